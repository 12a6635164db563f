import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../../src/store/cluster.ts';
import type { Ask } from '../../../src/store/postgres/ask.ts';
import { BY_INDEX } from '../../../src/store/postgres/by-index.ts';
import { createCluster } from '../../../src/store/postgres/cluster.ts';
import { createDatabaseClock } from '../../../src/store/postgres/database-clock.ts';
import type { Link } from '../../../src/store/postgres/link.ts';
import type { Links } from '../../../src/store/postgres/links.ts';
import { migrateDatabase } from '../../../src/store/postgres/migrate.ts';
import { createNodes } from '../../../src/store/postgres/nodes.ts';
import { loadPostgres } from '../../../src/store/postgres/postgres-module.ts';
import { createQueries } from '../../../src/store/postgres/queries.ts';
import type { Value } from '../../../src/store/postgres/statement.ts';
import type { Queries, Scope } from '../../../src/store/store.ts';
import { fillCrowd } from '../../support/postgres-crowd.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../../support/postgres-server.ts';

const OWNERS = 2_000;
const OWNER = 'owner-222';
const TASK = 'task_222_1';
const CONVERSATION = 'conv_222_1';
const AGENTS = ['planner', 'writer', 'painter'];

/** Of one step of a plan: what runs at once in the whole database is more. */
const MOST_ROWS = OWNERS / 2 + 1;
/** Tables that have few rows, however many tasks there are. */
const SMALL = 'node|duty|agent|log_epoch';
const LARGE = new RegExp(`Seq Scan on (?!(?:${SMALL})\\b)`);
const PAGE = { limit: 50, order: 'desc' } as const;
const SCOPES: Scope[] = [
  { kind: 'log' },
  { kind: 'root', taskId: TASK },
  { kind: 'child', taskId: TASK, rootId: TASK },
  { kind: 'conversation', conversationId: CONVERSATION },
];

/** Every statement that reads, and of those of the cluster each. */
const READS: [name: string, read: (queries: Queries, cluster: Cluster) => unknown][] = [
  ['claimable', (queries) => queries.claimable(16)],
  ['claimable of agents', (queries) => queries.claimable(16, new Set(['owner-2', 'owner-4']), AGENTS)],
  ['suspects', (queries) => queries.suspects(16)],
  ['due', (queries) => queries.due(100)],
  ['nextDueAt', (queries) => queries.nextDueAt()],
  ['prunable', (queries) => queries.prunable(1_000, 100)],
  ['purgeable', (queries) => queries.purgeable(10)],
  ['orphans', (queries) => queries.orphans(10)],
  ['newestSuspects', (queries) => queries.newestSuspects(10)],
  ['task', (queries) => queries.task(OWNER, TASK)],
  ['question', (queries) => queries.question(OWNER, 'qst_2222')],
  ['log', (queries) => queries.log(OWNER)],
  ['unfinishedRoots', (queries) => queries.unfinishedRoots(OWNER)],
  ['unfinishedFrom', (queries) => queries.unfinishedFrom(OWNER)],
  ['unfinishedFrom of a conversation', (queries) => queries.unfinishedFrom(OWNER, CONVERSATION)],
  ['hasKey', (queries) => queries.hasKey(OWNER, 'key')],
  ['agents', (queries) => queries.agents()],
  ['tasks', (queries) => queries.listTasks(OWNER, PAGE)],
  ['tasks of an agent', (queries) => queries.listTasks(OWNER, { ...PAGE, agent: 'planner', after: TASK })],
  ['tasks of a conversation', (queries) => queries.listTasks(OWNER, { ...PAGE, conversationId: CONVERSATION })],
  ['questions', (queries) => queries.listQuestions(OWNER, PAGE)],
  ['questions of a task', (queries) => queries.listQuestions(OWNER, { ...PAGE, taskId: TASK })],
  ['questions of a conversation', (queries) => queries.listQuestions(OWNER, { ...PAGE, conversationId: CONVERSATION })],
  ['conversation', (queries) => queries.conversation(OWNER, CONVERSATION)],
  ['conversations', (queries) => queries.listConversations(OWNER, PAGE)],
  [
    'more conversations',
    (queries) => queries.listConversations(OWNER, { ...PAGE, after: { at: 2, id: CONVERSATION } }),
  ],
  ['messages', (queries) => queries.listMessages(OWNER, { ...PAGE, conversationId: CONVERSATION })],
  ...SCOPES.flatMap((scope) =>
    [null, 5].map((unfinishedAt): (typeof READS)[number] => [
      `events of a ${scope.kind}${unfinishedAt === null ? '' : ' that are unfinished'}`,
      (queries) => queries.readEvents(OWNER, { scope, after: 0, upTo: null, unfinishedAt, limit: 200 }),
    ]),
  ),
  ['renew', (_, cluster) => cluster.renew()],
  ['buryDead', (_, cluster) => cluster.buryDead()],
  ['takeDuty', (_, cluster) => cluster.takeDuty('sweep')],
  ['heads', (_, cluster) => cluster.heads([OWNER, 'owner-3'])],
  ['copies', (_, cluster) => cluster.copies(OWNER, [{ taskId: TASK, ord: 1 }])],
];

const server = await findPostgres();

describe.skipIf(server === null)('Among 20,000 tasks of 2,000 owners', () => {
  let database: TestDatabase;
  let sql: postgres.Sql;
  beforeAll(async () => {
    database = await createTestDatabase();
    await migrateDatabase(await loadPostgres(), { url: database.url });
    await fillCrowd(database.url, OWNERS);
    sql = postgres(database.url, { max: 1, onnotice: () => {} });
    for (const [name, value] of Object.entries(BY_INDEX)) await sql.unsafe(`set ${name} = ${value}`);
  }, 60_000);
  afterAll(async () => {
    await sql?.end();
    await database?.drop();
  });

  test.each(READS)('no read looks at many that it has no use for: %s', async (_, read) => {
    for (const { plan, text } of await plansOf(read)) {
      expect(plan, text).not.toMatch(LARGE);
      expect(plan, text).not.toContain('Hash Join');
      expect(rowsSeen(plan), `${text}\n${plan}`).toBeLessThan(MOST_ROWS);
    }
  });

  /** What is asked, as PostgreSQL has run it. */
  async function plansOf(read: (typeof READS)[number][1]): Promise<{ text: string; plan: string }[]> {
    const plans: { text: string; plan: string }[] = [];
    const ask: Ask = async ({ text }, ...values) => {
      if (text === 'commit') return Object.assign([], { count: 0, command: 'COMMIT' });
      const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
      const lines = await sql.begin(async (tx) => {
        await tx.unsafe(`prepare asked as ${text}`);
        const explained = await tx.unsafe(`explain (analyze, timing off) execute asked${given}`);
        await tx.unsafe('deallocate asked');
        return explained;
      });
      plans.push({ text, plan: lines.map((line) => line['QUERY PLAN']).join('\n') });
      return Object.assign([], { count: 0, command: 'SELECT' });
    };
    const link: Link = { isOpen: true, lost: new Promise(() => {}), ask, begin: async () => {}, close() {} };
    const links: Links = { use: (work) => work(link), async end() {} };
    await read(createQueries(ask), createCluster(links, createNodes(links, createDatabaseClock(), 30_000)));
    expect(plans.length).toBeGreaterThan(0);
    return plans;
  }
});

/** The most that one step of it has come upon, over all of its turns. */
function rowsSeen(plan: string): number {
  const steps = [...plan.matchAll(/actual rows=(\d+) loops=(\d+)/g)].map(
    ([, rows, loops]) => Number(rows) * Number(loops),
  );
  const removed = [...plan.matchAll(/Rows Removed by [\w ]+: (\d+)/g)].map(([, rows]) => Number(rows));
  return Math.max(...steps, ...removed);
}

function literal(value: Value): string {
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value === 'string' ? `'${value}'` : String(value);
  return `'{${value.join(',')}}'`;
}
