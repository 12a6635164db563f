import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../../bench/support/median.ts';
import type { Question } from '../../src/model/question.ts';
import type { Api, Page } from '../support/api.ts';
import { sendRaw } from '../support/raw-http.ts';
import { isSignal } from '../support/sse-reader.ts';

/** What one user saw who has nothing to do with a load. */
export interface Bystander {
  answered: number;
  /** Answers, pages and looks at `/healthz` that were not 200, with their status. */
  refused: string[];
  answerP99Ms: number;
  pageP99Ms: number;
  /** The longest that a new connection took to be served. */
  newConnectionMs: number;
  /** Tasks whose question was answered, and that did not complete. */
  unfinished: number;
  /** Whether `/readyz` ever said that the server is overloaded, and how many new streams were then sent away. */
  sawOverloaded: boolean;
  sentAway: number;
  /** Answers that a stream told of which was opened before. */
  told: number;
}

const EVERY_MS = 500;

/**
 * A user who answers a question and reads a page twice a second, on connections that are open already, and opens a new
 * one each time.
 *
 * @param seconds for how long: so many questions are asked before
 */
export async function watchBystander(api: Api, seconds: number): Promise<{ end(): Promise<Bystander> }> {
  const count = Math.ceil((seconds * 1000) / EVERY_MS);
  const taskIds: string[] = [];
  for (let i = 0; i < count; i++) taskIds.push((await api.run('asker')).id);
  const questions: Question[] = [];
  for (const id of taskIds) questions.push(await api.pendingQuestion(id));

  const refused: string[] = [];
  const answerMs: number[] = [];
  const pageMs: number[] = [];
  const connectMs: number[] = [];
  let sawOverloaded = false;
  let sentAway = 0;
  const stream = await api.openStream('/v1/events?after=latest&types=question.answered');
  let isOver = false;

  async function timed(name: string, into: number[], ask: () => Promise<{ status: number }>): Promise<void> {
    const askedAt = performance.now();
    const { status } = await ask();
    into.push(performance.now() - askedAt);
    if (status !== 200) refused.push(`${name}: ${status}`);
  }

  async function lookWhetherReady(): Promise<void> {
    const { status } = await api.get('/readyz');
    if (status !== 503) return;
    sawOverloaded = true;
    const opened = await api.openStream('/v1/events?after=latest');
    // It may just have been calm again.
    const first = await opened.next();
    if (first?.event === 'bye') sentAway += 1;
    opened.close();
  }

  async function answerAll(): Promise<void> {
    for (const { id } of questions) {
      const nextAt = performance.now() + EVERY_MS;
      await Promise.all([
        timed('answer', answerMs, () => api.answer(id, true)),
        timed('page', pageMs, () => api.get<Page<unknown>>('/v1/tasks?limit=10')),
        timed('healthz', connectMs, () =>
          sendRaw(api.url, 'GET /healthz HTTP/1.1\r\nHOST\r\nConnection: close\r\n\r\n'),
        ),
        lookWhetherReady(),
      ]);
      // The user's pace: it stays behind when answers are slow, and what is left is answered after the load.
      if (!isOver) await delay(Math.max(0, nextAt - performance.now()));
    }
  }

  const answering = answerAll();
  return {
    async end() {
      isOver = true;
      await answering;
      let told = 0;
      while (told < answerMs.length) told += isSignal(await stream.until(() => true)) ? 0 : 1;
      stream.close();
      const tasks = await Promise.all(taskIds.map((id) => api.settled(id)));
      return {
        answered: answerMs.length,
        refused,
        answerP99Ms: percentile(answerMs, 0.99),
        pageP99Ms: percentile(pageMs, 0.99),
        newConnectionMs: Math.max(...connectMs),
        unfinished: tasks.filter(({ status }) => status !== 'completed').length,
        sawOverloaded,
        sentAway,
        told,
      };
    },
  };
}
