import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate --config drizzle.postgres-access.config.ts --name <what>`; read what it writes before it is committed. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/store/postgres/access/schema.ts',
  out: './migrations/postgres-access',
  schemaFilter: ['holdfast_access'],
});
