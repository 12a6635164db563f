import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import type { Question } from '../../src/model/question.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page, seqOf } from '../support/api.ts';
import { type ChatPage, emptyPage, loadedPage, show } from '../support/chat-page.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, logEvents, openSseReader, type SseReader } from '../support/sse-reader.ts';

type OpenConversation = Conversation & { unfinishedTasks: Task[]; pendingQuestions: Question[]; resumeAfter: string };

/** Change it to look elsewhere; a failure names the moment. */
const SEED = 20_261_203;
const MOMENTS = 50;
const ACTS = [
  'say',
  'say',
  'say',
  'stutter',
  'stutter',
  'tool',
  'tool',
  'broken',
  'ask',
  'ask',
  'nap',
  'child',
  'hear',
];

let server: ServerProcess;
let api: Api;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/protocol/acting-agents.ts'] });
  api = createApi(server.url);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

async function everyMessage(id: string, limit: number): Promise<Message[]> {
  const messages: Message[] = [];
  for (let page = ''; ; ) {
    const { body } = await api.get<Page<Message>>(`/v1/conversations/${id}/messages?limit=${limit}${page}`);
    messages.push(...body.items);
    if (body.nextPage === null) return messages;
    page = `&page=${body.nextPage}`;
  }
}

/** A page that is loaded now, and what it shows when it has caught up. */
async function reload(id: string): Promise<{ page: ChatPage; seq: number; shownBefore: number }> {
  const { body: open } = await api.get<OpenConversation>(`/v1/conversations/${id}`);
  const messages = await everyMessage(id, 20);
  const reader = await openSseReader(`${server.url}/v1/conversations/${id}/events?after=${open.resumeAfter}`);
  const caughtUp = await reader.until(isNamed('caught-up'));
  reader.close();
  const page = loadedPage(open, messages);
  const before = reader.blocks.slice(0, reader.blocks.indexOf(caughtUp));
  for (const event of logEvents(before)) show(page, event);
  return { page, seq: seqOf(caughtUp.id), shownBefore: messages.length };
}

/** Somebody who writes, steers, interrupts and answers, as the dice say, until told to stop. */
async function chat(id: string, dice: Dice, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const content = Array.from({ length: 1 + dice.below(5) }, () => dice.pick(ACTS)).join(' ');
    const whenBusy = dice.pick(['interrupt', 'interrupt', 'interrupt', 'enqueue', 'steer', 'steer', 'reject']);
    const last = dice.below(8) === 0 ? ' fail' : '';
    await api.post(`/v1/conversations/${id}/messages`, { content: `${content}${last}`, agent: 'actor', whenBusy });
    for (let pause = dice.below(4); pause >= 0; pause--) {
      await delay(dice.below(120));
      const { body } = await api.get<OpenConversation>(`/v1/conversations/${id}`);
      const [question] = body.pendingQuestions;
      if (question === undefined || dice.below(2) === 0) continue;
      if (dice.below(3) > 0) await api.answer(question.id, 'yes');
      else await api.post(`/v1/questions/${question.id}/decline`, {});
    }
  }
}

async function watch(reader: SseReader): Promise<void> {
  while ((await reader.next().catch(() => null)) !== null);
}

test('§7 a page that is reloaded at any moment shows what one shows that was never interrupted', async () => {
  const { id } = (await api.post<Conversation>('/v1/conversations', {})).body;
  const dice = diceOf(SEED);
  const steady = await openSseReader(`${server.url}/v1/conversations/${id}/events?after=0`);
  const watching = watch(steady);
  const moments: Awaited<ReturnType<typeof reload>>[] = [];
  const chatting = chat(id, diceOf(SEED + 1), () => moments.length >= MOMENTS);

  while (moments.length < MOMENTS) {
    await delay(dice.below(250));
    moments.push(await reload(id));
  }
  await chatting;
  moments.push(await reload(id));

  const newest = Math.max(...moments.map(({ seq }) => seq));
  await expect
    .poll(() => logEvents(steady.blocks).at(-1)?.seq ?? 0, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(newest);
  steady.close();
  await watching;
  const events = logEvents(steady.blocks);
  const shown = emptyPage();
  let at = 0;
  const seen = { streaming: 0, partial: 0, questions: 0, tools: 0, children: 0, pages: 0 };
  for (const [moment, { page, seq, shownBefore }] of moments.toSorted((a, b) => a.seq - b.seq).entries()) {
    for (; (events[at]?.seq ?? Number.POSITIVE_INFINITY) <= seq; at++) show(shown, events[at] as (typeof events)[0]);

    // What streamed into tasks that were no turns, children too, and has ended, is not loaded: it is not stored.
    const stored = new Set((await everyMessage(id, 200)).map((message) => message.id));
    expect(storedAlone(page, stored), `moment ${moment}, at ${seq}`).toEqual(storedAlone(shown, stored));
    const statuses = [...page.messages.values()].flatMap(({ status, text }) => (text === '' ? [] : status));
    seen.streaming += Number(statuses.includes('streaming'));
    seen.partial += Number(statuses.includes('partial'));
    seen.questions += Number(page.questions.size > 0);
    seen.tools += Number(page.tools.size > 0);
    seen.children += Number(page.tasks.size > 1);
    seen.pages += Number(shownBefore > 20);
  }
  // That the moments were worth looking at.
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
}, 180_000);

/** Without the messages that have ended and are stored nowhere. */
function storedAlone({ messages, ...rest }: ChatPage, stored: ReadonlySet<string>): ChatPage {
  const left = [...messages].filter(([id, { status }]) => status === 'streaming' || stored.has(id));
  return { ...rest, messages: new Map(left.sort(([a], [b]) => (a < b ? -1 : 1))) };
}
