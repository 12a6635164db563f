import { type QuestionStatus, questionSchema } from '../../model/question.ts';
import { TASK_STATUSES } from '../../model/task.ts';
import type { Queries } from '../store.ts';
import type { Ask } from './ask.ts';
import { toText } from './escape.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { isShown } from './shown.ts';
import { statement } from './statement.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

const QUESTION_STATUSES: readonly QuestionStatus[] = questionSchema.shape.status.options;
const LOG = '(select id from holdfast.log where owner = $1)';
const SHOWN = isShown('conversation_id');
/** Above every key. */
const NO_KEY = '9000000000000000';

const TASKS = { asc: tasksIn('asc'), desc: tasksIn('desc') };
const QUESTIONS = {
  all: questions(`log = ${LOG}`),
  ofTask: questions(
    `task = (select key from holdfast.task where log = ${LOG} and id = $5) and ($6::text is null or conversation_id = $6)`,
  ),
  ofConversation: questions(`log = ${LOG} and conversation_id = $5`),
};

/**
 * The lists. Each status has its own stretch of an index that is in the order of creation, so a page is merged from one
 * short read of keys a status, however many rows the owner has.
 */
export function createLists(ask: Ask): Pick<Queries, 'listTasks' | 'listQuestions'> {
  return {
    async listTasks(owner, { status = TASK_STATUSES, agent = null, conversationId, limit, order, after = null }) {
      const { all, ofAgent, ofConversation } = TASKS[order];
      const page = [toText(owner), [...new Set(status)], toText(after), limit] as const;
      const read = () => {
        if (conversationId !== undefined) return ask(ofConversation, ...page, toText(conversationId), toText(agent));
        return agent === null ? ask(all, ...page) : ask(ofAgent, ...page, toText(agent));
      };
      return (await read()).map(toTask);
    },
    async listQuestions(owner, { status, taskId, conversationId = null, limit, after = null }) {
      const { all, ofTask, ofConversation } = QUESTIONS;
      const page = [toText(owner), status === undefined ? QUESTION_STATUSES : [status], toText(after), limit] as const;
      const read = () => {
        if (taskId !== undefined) return ask(ofTask, ...page, toText(taskId), toText(conversationId));
        return conversationId === null ? ask(all, ...page) : ask(ofConversation, ...page, toText(conversationId));
      };
      return (await read()).map(toQuestion);
    },
  };
}

function tasksIn(order: 'asc' | 'desc') {
  const after = `(select key from holdfast.task where log = ${LOG} and id = $3)`;
  const beyond = order === 'asc' ? `key > coalesce(${after}, 0)` : `key < coalesce(${after}, ${NO_KEY})`;
  const tasks = (where: string) =>
    statement<TaskRead>(`${SELECT_TASK} where task.key = any(${firstKeys('task', where, beyond, order)})
      order by task.key ${order}`);
  return {
    all: tasks(`log = ${LOG}`),
    ofAgent: tasks(`log = ${LOG} and agent = $5`),
    ofConversation: tasks(`log = ${LOG} and conversation_id = $5 and ($6::text is null or agent = $6)`),
  };
}

function questions(where: string) {
  const beyond = `key > coalesce((select key from holdfast.question where log = ${LOG} and id = $3), 0)`;
  return statement<QuestionRead>(`${SELECT_QUESTION} where question.key = any(${firstKeys('question', where, beyond, 'asc')})
    order by question.key`);
}

/** The first `$4` keys, with one of the statuses `$2`, as an array. */
function firstKeys(table: string, where: string, beyond: string, order: 'asc' | 'desc'): string {
  return `array(select found.key from unnest($2::text[]) as wanted(status) cross join lateral (
      select key from holdfast.${table} where ${where} and status = wanted.status and ${beyond} and ${SHOWN}
        order by key ${order} limit $4) as found
    order by found.key ${order} limit $4)`;
}
