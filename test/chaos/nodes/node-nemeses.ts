import type { Dice } from '../../support/dice.ts';
import type { PostgresCluster } from '../../support/postgres-cluster.ts';
import type { Change } from '../failpoint-copy.ts';
import { pass } from '../pass.ts';
import type { NodeSet } from './node-set.ts';
import { dropNotifications } from './witness.ts';

/** How long a node counts as living that is not heard of. */
export const LEASE_MS = 2000;

/** Where nodes are, and what can befall them. */
export interface NodesPlace {
  set: NodeSet;
  cluster: PostgresCluster;
  database: string;
  dice: Dice;
}

/** What goes wrong with nodes. */
export interface NodeNemesis {
  /** To the code of the nodes. */
  changes?: readonly Change[];
  /** Makes faults until the signal aborts. Afterwards every node can come to the database, and none stands still. */
  run(place: NodesPlace, until: AbortSignal): Promise<void>;
}

const calm: NodeNemesis = { run: (_place, until) => pass(2 ** 31 - 1, until) };

type Fault = (place: NodesPlace, until: AbortSignal) => Promise<void>;

const kill: Fault = async ({ set, dice }) => {
  const { server } = dice.pick(set.nodes);
  await server.kill();
  await server.start();
};

/** In order, as a deploy does it. */
const stop: Fault = async ({ set, dice }) => {
  const { server } = dice.pick(set.nodes);
  await server.stop();
  await server.start();
};

/** Stands still past its lease, so that others do what it held, and goes on as if nothing had been. */
const pause: Fault = async ({ set, dice }, until) => {
  const goOn = dice.pick(set.nodes).server.pause();
  await pass(LEASE_MS + dice.below(2 * LEASE_MS), until);
  goOn();
};

const terminate: Fault = async ({ cluster, database }) => {
  await cluster.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}' and pid <> pg_backend_pid()`,
  );
};

const restart: Fault = ({ cluster }) => cluster.restart('immediate');

/** What was open is lost, and neither end knows. */
const halfOpen: Fault = async ({ set, dice }) => dice.pick(set.nodes).link.forget();

const noNotify: NodeNemesis = {
  async run({ cluster, database }, until) {
    await dropNotifications(cluster, database);
    await pass(2 ** 31 - 1, until);
  },
};

/** Those after which everything goes on within seconds. */
const MIXED: readonly Fault[] = [kill, stop, pause, terminate, restart];

/** What `--nemesis` takes. */
export const NODE_NEMESES: { readonly [name: string]: NodeNemesis } = {
  calm,
  kill: everySoOften(3000, kill),
  stop: everySoOften(3000, stop),
  pause: everySoOften(4000, pause),
  terminate: everySoOften(2000, terminate),
  restart: everySoOften(30_000, restart),
  'half-open': everySoOften(5000, halfOpen),
  'no-notify': noNotify,
  mixed: everySoOften(2000, (place, until) => place.dice.pick(MIXED)(place, until)),
};

/** @param everyMs from one fault to the next, on average */
function everySoOften(everyMs: number, fault: (place: NodesPlace, until: AbortSignal) => Promise<void>): NodeNemesis {
  return {
    async run(place, until) {
      for (;;) {
        await pass(everyMs / 2 + place.dice.below(everyMs), until);
        if (until.aborted) return;
        await fault(place, until);
      }
    },
  };
}
