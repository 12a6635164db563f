import type { Task } from '../../src/model/task.ts';
import { type Api, createApi } from '../support/api.ts';
import { type PagedEvent, readLog } from '../support/log-pages.ts';
import { openSseReader, type SseReader } from '../support/sse-reader.ts';
import type { Op } from './stream-agents.ts';

/** What the tests of streams do with a server that has the agents of `stream-agents.ts`. */
export interface StreamClient extends Api {
  /** Creates a task that does what `ops` lists. @returns its id */
  play(...ops: Op[]): Promise<string>;
  /** Plays `ops` and waits for the end. @returns the task's id */
  playOut(...ops: Op[]): Promise<string>;
  /** Waits until the task waits for a person, and answers. */
  answerNext(taskId: string): Promise<void>;
  /** Waits until the task waits for a person. */
  asks(taskId: string): Promise<void>;
  ended(taskId: string): Promise<Task>;
  /** Opens the stream of a path, or of a task by its id. */
  open(of: string, query?: string, headers?: Record<string, string>): Promise<SseReader>;
  /** Everything that the stream of a path, or of a task, has to tell, read by the page. */
  log(of: string): Promise<PagedEvent[]>;
}

export const EVERYTHING = '/v1/events';
export const STREAM_AGENTS: string[] = ['test/protocol/stream-agents.ts'];

export function createStreamClient(url: string): StreamClient {
  const api = createApi(url);

  async function play(...ops: Op[]): Promise<string> {
    return (await api.createTask({ agent: 'script', input: { ops } })).id;
  }

  async function asks(taskId: string): Promise<void> {
    while ((await api.settled(taskId)).status !== 'waiting');
  }

  async function ended(taskId: string): Promise<Task> {
    for (;;) {
      const task = await api.settled(taskId);
      if (task.finishedAt !== null) return task;
    }
  }

  return {
    ...api,
    play,
    asks,
    ended,
    async playOut(...ops) {
      const taskId = await play(...ops);
      await ended(taskId);
      return taskId;
    },
    async answerNext(taskId) {
      await asks(taskId);
      const { status, text } = await api.answer((await api.pendingQuestion(taskId)).id, true);
      if (status !== 200) throw new Error(`Refused with ${status}: ${text}`);
    },
    open: (of, query = '', headers = {}) => openSseReader(`${url}${pathOf(of)}${query}`, headers),
    log: (of) => readLog(api, pathOf(of)),
  };
}

/** The path of a task's events, of those of everything if it is one already. */
export function pathOf(of: string): string {
  return of.startsWith('/') ? of : `/v1/tasks/${of}/events`;
}
