import type { Event } from '../../model/event.ts';
import { type Asked, statement } from './statement.ts';

/** What stands for the task of an event that has none. */
const NO_TASK = 0;

const COLUMNS = 'log, seq, task, root, conversation, at, type, step, data';
const ROWS = `unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[]`;

/** Events that follow each other from `$2` on. All of their tasks and conversations were there before. */
const INSERT = statement(
  `insert into holdfast.event (${COLUMNS}) select $1, $2::bigint + n - 1, task, root, conversation, $3, type, step, data
    from ${ROWS}) with ordinality as given(task, root, conversation, type, step, data, n)`,
);
/** The same where the transaction makes some of those: their keys are null, and they are found by their ids. */
const INSERT_BY_ID = statement(
  `insert into holdfast.event (${COLUMNS}) select $1, $2::bigint + n - 1,
      coalesce(given.task, (select key from holdfast.task where log = $1 and id = given.task_id)),
      coalesce(given.root, (select key from holdfast.task where log = $1 and id = given.root_id)),
      coalesce(given.conversation, (select key from holdfast.conversation where log = $1 and id = given.conversation_id)),
      $3, type, step, data
    from ${ROWS}, $10::text[], $11::text[], $12::text[]) with ordinality
      as given(task, root, conversation, type, step, data, task_id, root_id, conversation_id, n)`,
);

/** The keys of rows by their ids; null for one that the same transaction makes. */
export type KeyOf = (id: string) => number | null;

/** What writes the events of a transaction, which follow each other and are of one instant. */
export function insertEvents(events: readonly Event[], logId: number, taskKey: KeyOf, conversationKey: KeyOf): Asked[] {
  const [first] = events;
  if (first === undefined) return [];
  const keyOfTask = (id: string | null) => (id === null ? NO_TASK : taskKey(id));
  const tasks = events.map(({ taskId }) => keyOfTask(taskId));
  const roots = events.map(({ rootId }) => keyOfTask(rootId));
  const conversations = events.map(({ conversationId }) =>
    conversationId === null ? null : conversationKey(conversationId),
  );
  const types = events.map(({ type }) => type);
  const steps = events.map(({ step }) => step);
  const data = events.map(({ data }) => data);
  const values = [logId, first.seq, first.at, tasks, roots, conversations, types, steps, data];
  const isNew = (key: number | null, index: number) => key === null && events[index]?.conversationId !== null;
  if (![...tasks, ...roots].includes(null) && !conversations.some(isNew)) return [[INSERT, ...values]];
  const taskIds = events.map(({ taskId }) => taskId);
  const rootIds = events.map(({ rootId }) => rootId);
  return [[INSERT_BY_ID, ...values, taskIds, rootIds, events.map(({ conversationId }) => conversationId)]];
}
