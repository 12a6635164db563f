import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { Owner } from './store-owner.ts';

/** A process that holds a directory: `node --import tsx store-child.ts <dir>`. It prints the log's head and waits to be killed. */
const store = openSqliteStoreInProcess({ dir: process.argv[2] ?? '' });
const ann = new Owner(store, 'ann');
const task = await ann.start();
await ann.append(task);
process.stdout.write(`${(await store.log('ann')).head}\n`);
setInterval(() => {}, 1_000);
