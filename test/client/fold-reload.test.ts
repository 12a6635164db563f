import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenConversation } from '../../src/client/client.ts';
import { fold, foldOf } from '../../src/client/conversation/conversation-fold.ts';
import type { Entry } from '../../src/client/conversation/conversation-view.ts';
import { timeOf } from '../../src/client/conversation/entry-time.ts';
import { EMPTY_FOLD, type FoldState } from '../../src/client/conversation/fold-state.ts';
import type { LogEvent } from '../../src/client/event.ts';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import { type Api, createApi, type Page, seqOf } from '../support/api.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { type PagedEvent, readLog } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isSignal, openSseReader } from '../support/sse-reader.ts';

/** Change it to look elsewhere; a failure names the moment. */
const SEED = Number(process.env.FOLD_SEED ?? 20_261_301);
const MOMENTS = Number(process.env.FOLD_MOMENTS ?? 60);
const ACTS = ['say', 'say', 'work', 'think', 'stutter', 'tool', 'tool', 'broken', 'ask', 'ask', 'child', 'hear'];
/** Between an id that is made and its event in the log, on a busy machine. */
const COMMIT_MS = 1000;

let server: ServerProcess;
let api: Api;
beforeAll(async () => {
  server = await startServerProcess({ agents: ['test/client/program-agents.ts'] });
  api = createApi(server.url);
});
afterAll(() => server.stop());

/** A page that is loaded now: what it shows before the stream, and when that has caught up. */
interface Moment {
  read: OpenConversation;
  told: FoldState;
  seq: number;
}

async function everyMessage(id: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (let page = ''; ; ) {
    const { body } = await api.get<Page<Message>>(`/v1/conversations/${id}/messages?limit=200${page}`);
    messages.push(...body.items);
    if (body.nextPage === null) return messages;
    page = `&page=${body.nextPage}`;
  }
}

async function reload(id: string): Promise<Moment> {
  const { body: read } = await api.get<OpenConversation>(`/v1/conversations/${id}`);
  const messages = await everyMessage(id);
  const reader = await openSseReader(`${server.url}/v1/conversations/${id}/events?after=${read.resumeAfter}`);
  const caughtUp = await reader.until(isNamed('caught-up'));
  reader.close();
  const blocks = reader.blocks.slice(0, reader.blocks.indexOf(caughtUp)).filter((block) => !isSignal(block));
  const events = blocks.map(({ data, id: cursor }): LogEvent => ({ ...JSON.parse(data ?? ''), id: cursor }));
  const told = events.reduce(fold, foldOf(read, messages, new Map()));
  return { read, told, seq: seqOf(caughtUp.id) };
}

/** Somebody who writes, steers, interrupts, answers and cancels, as the dice say, until told to stop. */
async function chat(id: string, dice: Dice, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const acts = Array.from({ length: 1 + dice.below(4) }, () => dice.pick(ACTS));
    const content = acts.reduce((all, act) => `${all}${dice.below(3) === 0 ? '+' : ' '}${act}`);
    const whenBusy = dice.pick(['interrupt', 'interrupt', 'enqueue', 'enqueue', 'steer', 'steer']);
    const last = dice.below(8) === 0 ? ' fail' : '';
    await api.post(`/v1/conversations/${id}/messages`, { content: `${content}${last}`, agent: 'program', whenBusy });
    for (let pause = dice.below(4); pause >= 0; pause--) {
      await delay(dice.below(120));
      const { body } = await api.get<OpenConversation>(`/v1/conversations/${id}`);
      const [question] = body.pendingQuestions;
      const task = body.unfinishedTasks.at(-1);
      if (task !== undefined && dice.below(8) === 0) await api.cancel(task.id);
      if (question === undefined || dice.below(2) === 0) continue;
      if (dice.below(3) > 0) await api.answer(question.id, 'yes');
      else await api.post(`/v1/questions/${question.id}/decline`, {});
    }
  }
}

function taskOf(entry: Entry): string {
  if (entry.kind === 'message') return entry.message.taskId;
  if (entry.kind === 'question') return entry.question.taskId;
  return 'taskId' in entry ? entry.taskId : '';
}

/** What a page that is loaded at this moment can know of what one shows that was there from the beginning. */
function known(live: FoldState, { read }: Moment, log: readonly PagedEvent[], stored: ReadonlySet<string>): Entry[] {
  const head = Number(read.resumeAfter.split('.').at(-1));
  const rootOf = new Map(log.map((event) => [event.taskId, (event as { rootId?: string }).rootId ?? event.taskId]));
  const isEnd = ({ type }: PagedEvent) => /^task\.(completed|failed|cancelled)$/.test(type);
  const ended = new Set(log.filter((event) => event.seq <= head && isEnd(event)).map(({ taskId }) => taskId));
  return live.entries.filter((entry) => {
    const isTold = !ended.has(rootOf.get(taskOf(entry)) ?? '');
    return isTold || (entry.kind === 'message' && stored.has(entry.message.id));
  });
}

/** Pairs in another order than the log's: of what was told, or too far from each other to be mixed up by their times. */
function inversions({ entries, untold }: FoldState, expected: readonly Entry[]): string[] {
  const place = new Map(expected.map(({ key }, at) => [key, at]));
  return entries.flatMap((entry, at) =>
    entries.slice(at + 1).flatMap((later) => {
      const isInverted = (place.get(later.key) ?? 0) < (place.get(entry.key) ?? 0);
      const areTold = !untold.has(entry.key) && !untold.has(later.key);
      const isClear = areTold || Math.abs(timeOf(entry) - timeOf(later)) > COMMIT_MS;
      return isInverted && isClear ? [`${entry.kind} ${entry.key} before ${later.kind} ${later.key}`] : [];
    }),
  );
}

const byKey = (entries: readonly Entry[]) => entries.toSorted((a, b) => (a.key < b.key ? -1 : 1));

test('a page that is reloaded at any moment comes to what one shows that saw every event', async () => {
  const { id } = (await api.post<Conversation>('/v1/conversations', {})).body;
  const { body: first } = await api.get<OpenConversation>(`/v1/conversations/${id}`);
  const dice = diceOf(SEED);
  const moments: Moment[] = [];
  const chatting = chat(id, diceOf(SEED + 1), () => moments.length >= MOMENTS);

  while (moments.length < MOMENTS) {
    await delay(dice.below(250));
    moments.push(await reload(id));
  }
  await chatting;

  const log = await readLog(api, `/v1/conversations/${id}/events`);
  const stored = new Set((await everyMessage(id)).map((message) => message.id));
  const states = new Map<number, FoldState>();
  log.reduce(
    (state, event) => {
      const next = fold(state, JSON.parse(JSON.stringify(event)));
      states.set(event.seq, next);
      return next;
    },
    foldOf(first, [], new Map()),
  );
  const seen = { text: 0, activity: 0, question: 0, message: 0, unfinished: 0, children: 0 };
  for (const [index, moment] of moments.entries()) {
    const at = `moment ${index}, at ${moment.seq}, seed ${SEED}`;
    const live = states.get(log.findLast(({ seq }) => seq <= moment.seq)?.seq ?? 0) ?? EMPTY_FOLD;
    const expected = known(live, moment, log, stored);
    const { entries, unfinished, questions } = moment.told;

    expect(byKey(entries), at).toEqual(byKey(expected));
    expect(inversions(moment.told, expected), at).toEqual([]);
    expect(unfinished, at).toEqual(live.unfinished);
    expect(questions, at).toEqual(live.questions);

    for (const { kind } of entries) if (kind in seen) seen[kind as keyof typeof seen] += 1;
    seen.unfinished += unfinished.length;
    seen.children += unfinished.filter(({ taskId, rootId }) => taskId !== rootId).length;
  }
  // That the moments were worth looking at.
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
}, 180_000);
