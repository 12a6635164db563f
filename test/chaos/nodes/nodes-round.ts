import { join } from 'node:path';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { diceOf } from '../../support/dice.ts';
import { freePort } from '../../support/free-port.ts';
import { startPostgresCluster } from '../../support/postgres-cluster.ts';
import { type Change, copyCode } from '../failpoint-copy.ts';
import { History } from '../history.ts';
import { type Load, play } from '../play.ts';
import type { Round } from '../round.ts';
import { seedOf } from '../seed.ts';
import { AGENTS } from '../server-lives.ts';
import { LEASE_MS, type NodeNemesis } from './node-nemeses.ts';
import { NodeSet } from './node-set.ts';
import { askWitness, setUpWitness, type Testimony } from './witness.ts';

const NODES = 3;
const DATABASE = 'chaos';
const WARM_MS = ['0', '100', '10000'];

/** Says when a worker's write is refused since its task has been claimed again. */
const REFUSED = 'An old fence was refused.';
const TELLING: Change = {
  file: 'src/model/fence.ts',
  from: `  return task !== null && task.fence === fence && task.status === 'running' ? task : null;`,
  to: `  if (task !== null && fence < task.fence) process.stderr.write('${REFUSED}\\n');
  return task !== null && task.fence === fence && task.status === 'running' ? task : null;`,
};

export interface NodesRoundOptions {
  seed: number;
  nemesis: NodeNemesis;
  /** A directory of its own, empty. */
  dir: string;
  load: Load;
}

export interface NodesRound extends Round {
  testimony: Testimony;
  /** How many writes under an old fence were tried, and refused. */
  refused: number;
}

/** The life story of some nodes on one database: as {@link play} judges it, and what a witness in the database has seen. */
export async function playNodes({ seed, nemesis, dir, load }: NodesRoundOptions): Promise<NodesRound> {
  const diceFor = (who: string) => diceOf(seedOf(seed, who));
  const history = new History(join(dir, 'history.jsonl'));
  const code = copyCode([AGENTS], [TELLING, ...(nemesis.changes ?? [])]);
  const cluster = await startPostgresCluster();
  let set: NodeSet | null = null;

  try {
    await (await openPostgresStore({ url: await cluster.createDatabase(DATABASE) })).close();
    await setUpWitness(cluster, DATABASE);
    const dice = diceFor('ports');
    const ports: number[] = [];
    while (ports.length < NODES) ports.push(await freePort(dice));
    for (let node = 1; node <= NODES; node++) await cluster.sql(`create role node_${node} superuser login`);
    const warmth = diceFor('warmth');
    set = await NodeSet.create({
      ...{ code, history, ports, databasePort: cluster.port },
      boot: () => ({ env: { HOLDFAST_WARM_MS: warmth.pick(WARM_MS) } }),
      storage: (port, node) => [
        ...['--database', `postgres://node_${node}@127.0.0.1:${port}/${DATABASE}`],
        ...['--database-pool', '8', '--lease-ms', `${LEASE_MS}`],
      ],
    });
    if (!(await set.start())) throw new Error(`A node does not start: ${history.lives.map(({ stderr }) => stderr)}`);

    const place = { set, cluster, database: DATABASE, dice: diceFor('nemesis') };
    const round = await play({
      ...{ server: set, history, seed, dir, load, spawns: true, retries: true },
      claims: async () => (await askWitness(cluster, DATABASE)).claims,
      faults(until, created) {
        const enough = new AbortController();
        void created.then(() => enough.abort());
        return nemesis.run(place, AbortSignal.any([until, enough.signal]));
      },
    });
    const testimony = await askWitness(cluster, DATABASE);
    const refused = history.lives.reduce((sum, { stderr }) => sum + stderr.split(REFUSED).length - 1, 0);
    const faults = testimony.faults.map((text) => ({ rule: 'nobody writes under an old fence', text, evidence: null }));
    return { ...round, violations: [...round.violations, ...faults], testimony, refused };
  } finally {
    await set?.close();
    await cluster.remove();
    await history.close();
    code.remove();
  }
}
