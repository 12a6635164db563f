import postgres from 'postgres';

/**
 * Fills a database whose tables are there with owners that have ten tasks each, and with what belongs to them: every other
 * owner has work for the agent `planner`, one in ten of the tasks is for `writer`. Written as rows, since commits would take
 * minutes. Owners are `owner-1` and so on, the log's id is that number, and the tasks of the third are `task_3_0` to `task_3_9`.
 */
export async function fillCrowd(url: string, owners: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    for (const statement of STATEMENTS) await sql.unsafe(statement.replaceAll(':owners', String(owners)));
  } finally {
    await sql.end();
  }
}

const HAS_WORK = 'log.id % 2 = 0';

const STATEMENTS = [
  'set synchronous_commit = off',
  "insert into holdfast.node (id, expires_at) values ('node-1', 9000000000000)",
  `insert into holdfast.log (owner, head, pruned_seq, epoch, claimable, turn, unfinished_roots, pending_questions, batch)
    select 'owner-' || n, 100, 0, 'aaaaaaaa', case when n % 2 = 0 then 10 else 0 end, (n * 7919) % :owners, 10, 1, 0
      from generate_series(1, :owners) as n`,
  "insert into holdfast.log_epoch (log, epoch, first_seq) select id, 'aaaaaaaa', 1 from holdfast.log",
  `insert into holdfast.task (log, id, root_id, agent, status, blocked, is_turn, message_count, depth, attempt, begins,
      max_attempts, failures, fence, held, node, ord, emits, event_count, events_length, unfinished_below, crashes, crash_mark,
      alone_crashes, pending_question_count, priority, seed, origin_at, timeout_ms, ran_ms, running_since, deadline_at,
      created_at, started_at, finished_at, first_seq, last_seq, pruned_seq, metadata)
    select log.id, ids.id, ids.id, case when n = 3 then 'writer' else 'planner' end,
      case when ${HAS_WORK} then 'queued' when n = 0 then 'running' else 'completed' end, false, false, 0, 0,
      case when ${HAS_WORK} then 0 else 1 end, ${HAS_WORK}, 1, 0, case when ${HAS_WORK} then 0 else 1 end,
      not ${HAS_WORK} and n = 0, case when not ${HAS_WORK} then 'node-1' end, 0, 0, 10, 100, 0, 0, 0, 0, 0, n % 3, 'seed', 1,
      1000, 0, case when not ${HAS_WORK} and n = 0 then 1 end,
      case when not ${HAS_WORK} and n = 0 then 8000000000000 + log.id end, 1, case when not ${HAS_WORK} then 1 end,
      case when not ${HAS_WORK} and n > 0 then log.id end, n * 10 + 1, n * 10 + 10, 0, '{}'
      from holdfast.log, generate_series(0, 9) as n, lateral (select 'task_' || log.id || '_' || n as id) as ids`,
  `insert into holdfast.event (log, seq, task, root, at, type, data)
    select task.log, task.first_seq + n, task.key, task.key, 1, 'note.taken', '{"n":1}'
      from holdfast.task, generate_series(0, 9) as n where task.log <= :owners / 10`,
  `insert into holdfast.conversation (log, id, created_at, last_activity_at, pruned_seq, unfinished_roots, deleted_at, purged,
      metadata)
    select id, 'conv_' || id || '_' || n, 1, n, 0, 0, case when id % 500 = 0 and n = 1 then 5 end, false, '{}'
      from holdfast.log, generate_series(1, 3) as n`,
  `insert into holdfast.message (log, id, conversation, task, role, status, created_at, metadata, content)
    select conversation.log, 'msg_' || conversation.key || '_' || n, conversation.key, task.key, 'user', 'complete', 1, '{}', 'Hello.'
      from holdfast.conversation join holdfast.task on task.log = conversation.log and task.id = 'task_' || task.log || '_1',
        generate_series(1, 3) as n`,
  `insert into holdfast.question (log, id, task, name, status, asked_at, expires_at, resolved_at, metadata, items)
    select log, 'qst_' || key, key, 'month', case when key % 10 = 0 then 'pending' else 'expired' end, 1,
      8000000000000 + key, case when key % 10 = 0 then null else 1 end, '{}', '[]' from holdfast.task where key % 2 = 0`,
  `insert into holdfast.journal (task, key, kind, status, asked_at, ord, emits_done, at, tries, once, due_at, value)
    select key, 'key-' || n, case when n = 5 then 'sleep' else 'step' end, case when n = 5 then 'pending' else 'done' end, n,
      case when n < 5 then n end, case when n < 5 then 0 end, case when n < 5 then 1 end, 0, false,
      case when n = 5 then 8000000000000 + key end, case when n < 5 then 'null' end
      from holdfast.task, generate_series(1, 5) as n where key % 3 = 0`,
  `insert into holdfast.idempotency_key (log, key, fingerprint, at, result)
    select id, 'key', 'print', 9000000000000, '1' from holdfast.log`,
];
