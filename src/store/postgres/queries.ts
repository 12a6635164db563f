import { KEY_LIFETIME_MS } from '../../model/batch.ts';
import type { AgentDescription, LogState, Queries } from '../store.ts';
import type { Ask } from './ask.ts';
import { createClaimable } from './claimable.ts';
import { createConversationLists } from './conversation-lists.ts';
import { NOW_MS } from './database-clock.ts';
import { createDue } from './due.ts';
import { fromText, toText } from './escape.ts';
import { createLists } from './lists.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { createReadEvents } from './read-events.ts';
import { isShown } from './shown.ts';
import { statement } from './statement.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

const LOG = '(select id from holdfast.log where owner = $1)';
const SHOWN = isShown('task.conversation_id');
const EMPTY_LOG: LogState = { head: 0, prunedSeq: 0, epochs: [] };

const TASK = statement<TaskRead>(`${SELECT_TASK} where task.log = ${LOG} and task.id = $2 and ${SHOWN}`);
const QUESTION = statement<QuestionRead>(
  `${SELECT_QUESTION} where question.log = ${LOG} and question.id = $2 and ${SHOWN}`,
);
const STATE = statement<{ head: number; prunedSeq: number; epochs: string }>(
  `select head, pruned_seq as "prunedSeq",
    (select coalesce(json_agg(json_build_object('epoch', epoch, 'firstSeq', first_seq) order by first_seq), '[]')
      from holdfast.log_epoch where log_epoch.log = log.id)::text as epochs
    from holdfast.log where owner = $1`,
);
const ROOTS = statement<{ count: number }>('select unfinished_roots as count from holdfast.log where owner = $1');
const UNFINISHED = statement<{ firstSeq: number }>(
  `select first_seq as "firstSeq" from holdfast.task where log = ${LOG} and parent_id is null and finished_at is null
    order by first_seq limit 1`,
);
const UNFINISHED_OF = statement<{ firstSeq: number | null }>(
  `select min(first_seq) as "firstSeq" from holdfast.task where log = ${LOG} and conversation_id = $2
    and status in ('queued', 'running', 'waiting') and parent_id is null`,
);
const KEY = statement<{ at: number }>(
  `select at from holdfast.idempotency_key where log = ${LOG} and key = $2 and at > ${NOW_MS} - ${KEY_LIFETIME_MS}`,
);
const AGENTS = statement<Omit<AgentDescription, 'inputSchema'> & { inputSchema: string }>(
  `select distinct on (name) name, version, description, input_schema as "inputSchema"
    from holdfast.agent join holdfast.node on node.id = agent.node where dead_at is null
    order by name, described_at desc, node.id`,
);

/** All reads, each of them one statement, which is sent before its function returns. */
export function createQueries(ask: Ask): Queries {
  return {
    ...createLists(ask),
    ...createConversationLists(ask),
    ...createDue(ask),
    ...createClaimable(ask),
    readEvents: createReadEvents(ask),
    async task(owner, id) {
      const [row] = await ask(TASK, toText(owner), toText(id));
      return row === undefined ? null : toTask(row);
    },
    async question(owner, id) {
      const [row] = await ask(QUESTION, toText(owner), toText(id));
      return row === undefined ? null : toQuestion(row);
    },
    async log(owner) {
      const [row] = await ask(STATE, toText(owner));
      return row === undefined ? EMPTY_LOG : { ...row, epochs: JSON.parse(row.epochs) };
    },
    unfinishedRoots: async (owner) => (await ask(ROOTS, toText(owner)))[0]?.count ?? 0,
    async unfinishedFrom(owner, conversationId) {
      const rows =
        conversationId === undefined
          ? await ask(UNFINISHED, toText(owner))
          : await ask(UNFINISHED_OF, toText(owner), toText(conversationId));
      const firstSeq = rows[0]?.firstSeq ?? null;
      return firstSeq === null ? null : firstSeq - 1;
    },
    hasKey: async (owner, key) => (await ask(KEY, toText(owner), toText(key))).length > 0,
    agents: async () => (await ask(AGENTS)).map(toAgent),
  };
}

function toAgent({ name, version, description, inputSchema }: AgentDescription): AgentDescription {
  const said = { description: fromText(description), version: fromText(version) };
  return { name: fromText(name), ...said, inputSchema: JSON.parse(String(inputSchema)) };
}
