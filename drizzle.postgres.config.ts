import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate --config drizzle.postgres.config.ts --name <what>`; read what it writes before it is committed. */
export default defineConfig({
  dialect: 'postgresql',
  schema: './src/store/postgres/*-schema.ts',
  out: './migrations/postgres',
  schemaFilter: ['holdfast'],
});
