import type { Database } from 'better-sqlite3';
import { type QuestionStatus, questionSchema } from '../../model/question.ts';
import { TASK_STATUSES } from '../../model/task.ts';
import type { StoreReads } from '../store.ts';
import { type QuestionRead, SELECT_QUESTION, SELECT_TASK, type TaskRead, toQuestion, toTask } from './rows.ts';

const QUESTION_STATUSES = questionSchema.shape.status.options;

/**
 * Prepares the lists. Each status has its own stretch of an index that is in the order of creation, so a page is merged
 * from one short read a status, however many rows the owner has.
 */
export function createLists(db: Database): Pick<StoreReads, 'listTasks' | 'listQuestions'> {
  const tasks = { asc: prepareTasks(db, 'asc'), desc: prepareTasks(db, 'desc') };
  const questions = prepareQuestions(db);
  return {
    listTasks(owner, { status = TASK_STATUSES, agent, limit, order, after }) {
      const statement = agent === undefined ? tasks[order].all : tasks[order].ofAgent;
      const of = { owner, agent: agent ?? null, after: after ?? null, limit };
      const rows = [...new Set(status)].flatMap((each) => statement.all({ ...of, status: each }));
      return firstByKey(rows, order, limit).map(toTask);
    },
    listQuestions(owner, { status, taskId, limit, after }) {
      const statement = taskId === undefined ? questions.all : questions.ofTask;
      const of = { owner, taskId: taskId ?? null, after: after ?? null, limit };
      const statuses = status === undefined ? QUESTION_STATUSES : [status];
      const rows = statuses.flatMap((each) => statement.all({ ...of, status: each }));
      return firstByKey(rows, 'asc', limit).map(toQuestion);
    },
  };
}

interface Page {
  owner: string;
  after: string | null;
  limit: number;
}

function prepareTasks(db: Database, order: 'asc' | 'desc') {
  const log = '(select id from log where owner = @owner)';
  const after = `(select key from task where log = ${log} and id = @after)`;
  const beyond = order === 'asc' ? `task.key > ifnull(${after}, 0)` : `task.key < ifnull(${after}, 9e15)`;
  const page = `and task.status = @status and ${beyond} order by task.key ${order} limit @limit`;
  const prepare = (where: string) =>
    db.prepare<[Page & { agent: string | null; status: string }], TaskRead>(`${SELECT_TASK} where ${where} ${page}`);
  return { all: prepare(`task.log = ${log}`), ofAgent: prepare(`task.log = ${log} and task.agent = @agent`) };
}

function prepareQuestions(db: Database) {
  const log = '(select id from log where owner = @owner)';
  const after = `(select key from question where log = ${log} and id = @after)`;
  const page = `and question.status = @status and question.key > ifnull(${after}, 0) order by question.key limit @limit`;
  const prepare = (where: string) =>
    db.prepare<[Page & { taskId: string | null; status: QuestionStatus }], QuestionRead>(
      `${SELECT_QUESTION} where ${where} ${page}`,
    );
  return {
    all: prepare(`question.log = ${log}`),
    ofTask: prepare(`question.task = (select key from task where log = ${log} and id = @taskId)`),
  };
}

function firstByKey<Row extends { key: number }>(rows: Row[], order: 'asc' | 'desc', limit: number): Row[] {
  const sign = order === 'asc' ? 1 : -1;
  return rows.sort((a, b) => sign * (a.key - b.key)).slice(0, limit);
}
