import type { Database } from 'better-sqlite3';
import { needsOf, type VerbCall } from '../../model/batch.ts';
import { newLog } from '../../model/log-record.ts';
import { View } from '../../model/view.ts';
import { createReadOwner, type StoredTask } from './owner-reader.ts';

/** One owner's view, and what ties its records to their rows. */
export interface Loaded {
  view: View;
  /** The log's row; null while there is none. */
  logId: number | null;
  /** The log's epoch before the batch. */
  epoch: string | null;
  /** The loaded tasks as they were before the batch, by id. One that is not here is new. */
  tasks: ReadonlyMap<string, StoredTask>;
  /** The rows' keys of the loaded conversations, by id. */
  conversationKeys: ReadonlyMap<string, number>;
}

export type Load = (owner: string, calls: readonly VerbCall[]) => Loaded;

/** Prepares the filling of views with what verbs need, all of one owner. */
export function createLoad(db: Database): Load {
  const readOwner = createReadOwner(db);
  return (owner, calls) => {
    const read = readOwner(owner, needsOf(calls));
    if (read === null) {
      return { view: new View(newLog(owner)), logId: null, epoch: null, tasks: new Map(), conversationKeys: new Map() };
    }
    const { id: logId, ...log } = read.log;
    const view = new View(log);
    view.load({
      ...read,
      tasks: [...read.tasks.values()].map(({ record }) => record),
      conversations: [...read.conversations.values()].map(({ record }) => record),
    });
    const conversationKeys = new Map([...read.conversations].map(([id, { key }]) => [id, key]));
    return { view, logId, epoch: log.epoch, tasks: read.tasks, conversationKeys };
  };
}
