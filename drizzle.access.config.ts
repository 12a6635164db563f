import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate --config drizzle.access.config.ts --name <what>`; read what it writes before it is committed. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/sqlite/access/schema.ts',
  out: './migrations/sqlite-access',
});
