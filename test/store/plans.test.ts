import Database from 'better-sqlite3';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { migrateSchema } from '../../src/store/sqlite/connection.ts';
import { createLoad } from '../../src/store/sqlite/load.ts';
import { createReads } from '../../src/store/sqlite/reads.ts';
import { createWrite } from '../../src/store/sqlite/write.ts';

/** Partial indexes of nothing but what is asked for, and read no further than a limit. */
const WANTED = /^SCAN (task|log) USING INDEX (task_held|task_suspect|task_suspect_running|log_claimable)$/;

/** What grows with the boots of the server and the agents of a node, not with its tasks. */
const SMALL = [/from log_epoch where/, /from agent order by name/, /^delete from agent/];

describe('No statement of the store', () => {
  const db = new Database(':memory:');
  afterAll(() => db.close());
  migrateSchema(db);
  const plans = plansOf(db);
  const large = plans.filter(({ sql }) => !SMALL.some((small) => small.test(sql)));

  test('looks at rows that it has no use for', () => {
    expect(large.filter(({ plan }) => plan.some((step) => step.startsWith('SCAN') && !WANTED.test(step)))).toEqual([]);
  });

  test('sorts', () => {
    expect(large.filter(({ plan }) => plan.some((step) => step.includes('TEMP B-TREE')))).toEqual([]);
  });

  test.each([
    ['the queue of an owner', /from task indexed by task_queue/, /task_queue \(log=\?\)/],
    ['the first of a lane', /from task indexed by task_lane_queue/, /task_lane_queue \(log=\? AND lane=\?\)/],
    [
      'the ones that a lane lets through',
      /^update task indexed by task_lane_head .* key <> \?\s+returning/,
      /task_lane_head \(log=\? AND/,
    ],
    ['the turns that wait', /^update task indexed by task_lane_head .* and is_turn = 1/, /task_lane_head \(log=\? AND/],
    ['the turn whose turn it is', /from task indexed by task_lane_turn/, /task_lane_turn \(log=\? AND lane=\?\)/],
    ['whether a lane is busy', /^select 1 from task where log = \? and lane = \? and held = 1 limit/, /task_lane_busy/],
    ['whether a turn has let go', /^select 1 from task where .* root_id <> \?/, /task_lane_busy/],
    [
      'the turns of a conversation',
      /from task indexed by turn_of_conversation/,
      /turn_of_conversation \(log=\? AND conversation_id=\?/,
    ],
    [
      'the events of a conversation',
      /from event e where e.conversation = .* and e.seq <= @upTo and \(e/,
      /event_of_conversation \(conversation=\? AND seq>\? AND seq<\?\)/,
    ],
    ['its messages', /from message join .* order by message.key asc/, /message_of_conversation \(conversation=\?/],
    ['what is said in a turn', /^select id from message where task = \?/, /message_of_task \(task=\?\)/],
    ['conversations by activity', /from conversation join .* order by last_activity_at/, /conversation_by_activity/],
    [
      'its unfinished tasks',
      /^select id from task where log = \? and conversation_id = \?/,
      /task_of_conversation \(log=\? AND conversation_id=\? AND status=\?\)/,
    ],
    ['sleeps that are over', /from journal join task/, /journal_due \(due_at>\? AND due_at<\?\)/],
    ['tasks that are ready', /select run_at as at/, /task_run_at \(run_at>\? AND run_at<\?\)/],
    ['a journal', /from journal where task = \?$/, /sqlite_autoindex_journal_1 \(task=\?\)/],
    ['what of it is pending', /from journal where task = \? and status = 'pending'/, /journal_pending \(task=\?\)/],
    ['what a message has said', /type = 'message.delta'/, /event_of_root \(root=\? AND seq>\?\)/],
    ['the journals of a tree', /^delete from journal where task = @root/, /task_of_root \(log=\? AND root_id=\?\)/],
  ])('misses the index for %s', (_what, statement, index) => {
    const found = plans.filter(({ sql }) => statement.test(sql));

    expect(found).toHaveLength(1);
    expect(found[0]?.plan.join('\n')).toMatch(index);
  });
});

/** How SQLite would run each statement that the store prepares. */
function plansOf(db: Database.Database): { sql: string; plan: string[] }[] {
  const prepare = vi.spyOn(db, 'prepare');
  createReads(db, Date.now);
  createLoad(db);
  createWrite(db);
  const statements = prepare.mock.calls.map(([sql]) => sql);
  prepare.mockRestore();
  return statements.map((sql) => {
    const explain = db.prepare<unknown[], { detail: string }>(`explain query plan ${sql}`);
    const names = [...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name, null]);
    const nulls = [...sql.matchAll(/\?/g)].map(() => null);
    const rows = names.length > 0 ? explain.all(Object.fromEntries(names)) : explain.all(...nulls);
    return { sql: sql.replaceAll(/\s+/g, ' '), plan: rows.map(({ detail }) => detail) };
  });
}
