import { startPostgresCluster } from './postgres-cluster.ts';
import { answeringPostgres } from './postgres-server.ts';

/**
 * Prints the URL of a PostgreSQL for tests: of one that answers already, else of its own, which lives for as long as this
 * process. `node --import tsx postgres-child.ts`
 */
const found = await answeringPostgres();
process.stdout.write(`${found ?? (await startPostgresCluster()).url()}\n`);
if (found === null) setInterval(() => {}, 1_000);
