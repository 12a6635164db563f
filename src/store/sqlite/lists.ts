import type { Database } from 'better-sqlite3';
import { type QuestionStatus, questionSchema } from '../../model/question.ts';
import { TASK_STATUSES, type TaskStatus } from '../../model/task.ts';
import type { Queries } from '../store.ts';
import { type QuestionRead, SELECT_QUESTION, toQuestion } from './question-row.ts';
import { isShown } from './shown.ts';
import type { Synchronous } from './synchronous.ts';
import { SELECT_TASK, type TaskRead, toTask } from './task-row.ts';

const QUESTION_STATUSES = questionSchema.shape.status.options;

/**
 * Prepares the lists. Each status has its own stretch of an index that is in the order of creation, so a page is merged
 * from one short read of keys a status, however many rows the owner has.
 */
export function createLists(db: Database): Pick<Synchronous<Queries>, 'listTasks' | 'listQuestions'> {
  const taskKeys = { asc: prepareTaskKeys(db, 'asc'), desc: prepareTaskKeys(db, 'desc') };
  const questionKeys = prepareQuestionKeys(db);
  const task = db.prepare<[number], TaskRead>(`${SELECT_TASK} where task.key = ?`);
  const question = db.prepare<[number], QuestionRead>(`${SELECT_QUESTION} where question.key = ?`);
  return {
    listTasks(owner, { status = TASK_STATUSES, agent, conversationId, limit, order, after }) {
      const { all, ofAgent, ofConversation } = taskKeys[order];
      const statement = conversationId !== undefined ? ofConversation : agent === undefined ? all : ofAgent;
      const page = {
        ...{ owner, limit, agent: agent ?? null, conversationId: conversationId ?? null },
        after: after ?? null,
      };
      const keys = [...new Set(status)].flatMap((each) => statement.all({ ...page, status: each }));
      return firstOf(keys, order, limit)
        .flatMap((key) => task.all(key))
        .map(toTask);
    },
    listQuestions(owner, { status, taskId, conversationId, limit, after }) {
      const { all, ofTask, ofConversation } = questionKeys;
      const statement = taskId !== undefined ? ofTask : conversationId === undefined ? all : ofConversation;
      const page = {
        ...{ owner, limit, taskId: taskId ?? null, conversationId: conversationId ?? null },
        after: after ?? null,
      };
      const statuses = status === undefined ? QUESTION_STATUSES : [status];
      const keys = statuses.flatMap((each) => statement.all({ ...page, status: each }));
      return firstOf(keys, 'asc', limit)
        .flatMap((key) => question.all(key))
        .map(toQuestion);
    },
  };
}

interface Page {
  owner: string;
  after: string | null;
  limit: number;
}

const LOG = '(select id from log where owner = @owner)';
const SHOWN = isShown('conversation_id');

function prepareTaskKeys(db: Database, order: 'asc' | 'desc') {
  const after = `(select key from task where log = ${LOG} and id = @after)`;
  const beyond = order === 'asc' ? `key > ifnull(${after}, 0)` : `key < ifnull(${after}, 9e15)`;
  const prepare = (where: string) =>
    db
      .prepare<[Page & { agent: string | null; conversationId: string | null; status: TaskStatus }], number>(
        `select key from task where ${where} and status = @status and ${beyond} and ${SHOWN} order by key ${order} limit @limit`,
      )
      .pluck();
  return {
    all: prepare(`log = ${LOG}`),
    ofAgent: prepare(`log = ${LOG} and agent = @agent`),
    ofConversation: prepare(`log = ${LOG} and conversation_id = @conversationId and ifnull(agent = @agent, 1)`),
  };
}

function prepareQuestionKeys(db: Database) {
  const after = `(select key from question where log = ${LOG} and id = @after)`;
  const prepare = (where: string) =>
    db
      .prepare<[Page & { taskId: string | null; conversationId: string | null; status: QuestionStatus }], number>(
        `select key from question where ${where} and status = @status and key > ifnull(${after}, 0) and ${SHOWN}
          order by key limit @limit`,
      )
      .pluck();
  return {
    all: prepare(`log = ${LOG}`),
    ofTask: prepare(
      `task = (select key from task where log = ${LOG} and id = @taskId)
        and ifnull(conversation_id = @conversationId, @conversationId is null)`,
    ),
    ofConversation: prepare(`log = ${LOG} and conversation_id = @conversationId`),
  };
}

function firstOf(keys: number[], order: 'asc' | 'desc', limit: number): number[] {
  const sign = order === 'asc' ? 1 : -1;
  return keys.sort((a, b) => sign * (a - b)).slice(0, limit);
}
