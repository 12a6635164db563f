import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { AgentDescription, HeldTask } from '../store.ts';
import { useAgain } from './ask.ts';
import { type DatabaseClock, NOW_MS } from './database-clock.ts';
import { owned, SELECT_HELD } from './due.ts';
import { toText } from './escape.ts';
import type { Links } from './links.ts';
import { statement } from './statement.ts';

const JOIN = statement<{ now: number }>(
  `insert into holdfast.node (id, expires_at) values ($1, ${NOW_MS} + $2) returning expires_at - $2 as now`,
);
/** Nothing brings back what is dead. What is late but was not buried goes on. */
const RENEW = statement<{ now: number; lives: boolean } & (HeldTask | { taskId: null })>(
  `with renewed as (
      update holdfast.node set expires_at = ${NOW_MS} + $2 where id = $1 and dead_at is null returning id
    )
    select exists (select 1 from renewed) as lives, ${NOW_MS} as now, held.* from (select 1) as one
      left join (${SELECT_HELD} where held and task.node = $1) as held on true`,
);
/** A claim has its node's row locked until it commits: it is seen by whoever looks for what this node has left. */
const BURY = statement(
  `with late as (
      select id from holdfast.node where dead_at is null and expires_at < ${NOW_MS} order by id for update
    )
    update holdfast.node set dead_at = ${NOW_MS} from late where node.id = late.id and dead_at is null`,
);
const LEAVE = statement(`update holdfast.node set dead_at = ${NOW_MS} where id = $1 and dead_at is null`);
/** So long ago that nobody asks any more who it was. */
const FORGET = statement(
  `delete from holdfast.node where dead_at < ${NOW_MS} - 24 * 60 * 60 * 1000
    and not exists (select 1 from holdfast.task where held and task.node = node.id)`,
);
const DROP_AGENTS = statement('delete from holdfast.agent where node = $1');
const PUT_AGENTS = statement(
  `insert into holdfast.agent (node, name, version, description, input_schema, described_at)
    select $1, agents.*, ${NOW_MS} from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as agents`,
);
const COMMIT = statement('commit');

/** The nodes of a database, of which this process is one. */
export interface Nodes {
  /** This process's. It may be another after {@link renew}. */
  readonly id: string;
  readonly leaseMs: number;
  /** To be done first. */
  join(): Promise<void>;
  renew(): Promise<{ node: string; held: HeldTask[] }>;
  /** @returns how many */
  buryDead(): Promise<number>;
  /** Replaces the descriptions of this process's agents, which stand as long as it lives. */
  describeAgents(agents: readonly AgentDescription[]): Promise<void>;
  /** Lets others take over at once, instead of when the lease is over. */
  leave(): Promise<void>;
}

export function createNodes(links: Links, clock: DatabaseClock, leaseMs: number): Nodes {
  let id = newId();
  let described: readonly AgentDescription[] = [];

  async function join(): Promise<void> {
    const joining = newId();
    await links.use(async (link) => {
      const sentAt = performance.now();
      const [, joined] = await Promise.all([
        link.begin(),
        link.ask(JOIN, joining, leaseMs),
        link.ask(PUT_AGENTS, joining, ...columnsOf(described)),
        link.ask(COMMIT),
      ]);
      for (const { now } of joined) clock.learn(now, sentAt);
    });
    id = joining;
  }

  return {
    get id() {
      return id;
    },
    leaseMs,
    join,
    async renew() {
      const node = id;
      const sentAt = performance.now();
      const rows = await useAgain(links, (link) => link.ask(RENEW, node, leaseMs));
      const held: HeldTask[] = [];
      for (const { now, lives, ...task } of rows) {
        clock.learn(now, sentAt);
        if (!lives) {
          await join();
          return { node: id, held: [] };
        }
        if (task.taskId !== null) held.push(owned(task));
      }
      return { node, held };
    },
    async buryDead() {
      const [{ count }] = await links.use((link) => Promise.all([link.ask(BURY), link.ask(FORGET)]));
      return count;
    },
    async describeAgents(agents) {
      described = agents;
      const node = id;
      await links.use((link) =>
        Promise.all([
          link.begin(),
          link.ask(DROP_AGENTS, node),
          link.ask(PUT_AGENTS, node, ...columnsOf(agents)),
          link.ask(COMMIT),
        ]),
      );
    },
    async leave() {
      const node = id;
      await links.use((link) => link.ask(LEAVE, node));
    },
  };
}

function newId(): string {
  return randomBytes(12).toString('base64url');
}

function columnsOf(agents: readonly AgentDescription[]): string[][] {
  return [
    agents.map(({ name }) => toText(name)),
    agents.map(({ version }) => toText(version)),
    agents.map(({ description }) => toText(description)),
    agents.map(({ inputSchema }) => JSON.stringify(inputSchema)),
  ];
}
