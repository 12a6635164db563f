import { defineConfig } from 'drizzle-kit';

/** `npx drizzle-kit generate --name <what>` writes the next migration; read it before it is committed. */
export default defineConfig({
  dialect: 'sqlite',
  schema: './src/store/sqlite/*-schema.ts',
  out: './migrations/sqlite',
});
