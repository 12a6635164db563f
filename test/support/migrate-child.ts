/** Brings the tables of the database that it is told up to date, as a server does at its start. */
import { migrateDatabase } from '../../src/store/postgres/migrate.ts';
import { loadPostgres } from '../../src/store/postgres/postgres-module.ts';

const [url = ''] = process.argv.slice(2);
process.stdin.once('data', async () => {
  await migrateDatabase(await loadPostgres(), { url });
  process.exit(0);
});
process.stdout.write('ready');
