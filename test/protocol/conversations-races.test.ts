import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { readLog } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isType, type LogEvent, logEvents, openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { rounds } from '../survival/rounds.ts';

type Posted = { message: Message; task: Task };
type WhenBusy = 'interrupt' | 'enqueue' | 'reject' | 'steer';

/** Change it to look elsewhere; a failure names the round. */
const SEED = 20_261_202;
const AGENTS = ['test/protocol/race-agents.ts'];
const AT_ONCE = 10;
const TERMINAL = ['task.completed', 'task.failed', 'task.cancelled'];

async function open(api: Api): Promise<string> {
  return (await api.post<Conversation>('/v1/conversations', {})).body.id;
}

async function messagesOf(api: Api, id: string): Promise<Message[]> {
  return (await api.get<Page<Message>>(`/v1/conversations/${id}/messages?limit=200`)).body.items;
}

async function turnsOf(api: Api, id: string): Promise<Task[]> {
  return (await api.get<Page<Task>>(`/v1/tasks?conversationId=${id}&order=asc&limit=200`)).body.items;
}

/** Until nothing of it is unfinished; a turn may begin another with its end. */
async function ended(api: Api, id: string): Promise<Task[]> {
  for (;;) {
    const turns = await turnsOf(api, id);
    const unfinished = turns.filter(({ finishedAt }) => finishedAt === null);
    if (unfinished.length === 0) return turns;
    for (const turn of unfinished) await api.ended(turn.id);
  }
}

/** Where the log shows a turn that begins or goes on while another one is unfinished that has begun. */
function overlaps(events: readonly LogEvent[]): string[] {
  const begun = new Set<string>();
  const found: string[] = [];
  for (const { type, taskId, seq } of events) {
    if (type === 'task.started' || type === 'task.resumed') {
      begun.add(taskId);
      if (begun.size > 1) found.push(`${type} of ${taskId} at ${seq}, while ${[...begun].join(', ')} are unfinished`);
    }
    if (TERMINAL.includes(type)) begun.delete(taskId);
  }
  return found;
}

/** The same, by what the agents' own code has written. */
function overlapsOfCode(file: string, conversationId: string): string[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const own = lines.filter((line) => line.startsWith(conversationId)).map((line) => line.split(' ').slice(1));
  return own.flatMap(([taskId, what], at) => {
    const [before, did] = own[at - 1] ?? [];
    const alternates = what === 'begins' ? did !== 'begins' : did === 'begins' && before === taskId;
    return alternates ? [] : [`${taskId} ${what} after ${before} ${did}`];
  });
}

interface Race {
  id: string;
  whenBusy: WhenBusy;
  posted: Posted[];
  refused: number;
}

describe('§7 messages that race the completion of the turn', () => {
  let server: ServerProcess;
  let api: Api;
  const file = path.join(newDirectory(), 'marks');
  beforeAll(async () => {
    server = await startServerProcess({ agents: AGENTS, env: { RACE_FILE: file, HOLDFAST_AGENT_ENV: 'RACE_FILE' } });
    api = createApi(server.url);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  /** A turn of a few ms, and three messages about when it ends. */
  async function race(whenBusyOf: () => WhenBusy, dice: Dice): Promise<Race> {
    const id = await open(api);
    const race: Race = { id, whenBusy: whenBusyOf(), posted: [], refused: 0 };
    const write = async (content: string, whenBusy: WhenBusy) => {
      const body = { content, agent: 'racer', whenBusy };
      const { status, body: posted, text } = await api.post<Posted>(`/v1/conversations/${id}/messages`, body);
      if (status === 202) race.posted.push(posted);
      else if (status === 409) race.refused++;
      else throw new Error(`${status} ${text}`);
    };
    await write(`${dice.below(15)} first`, 'enqueue');
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const whenBusy = whenBusyOf();
        await delay(dice.below(40));
        await write(`${dice.below(8)} ${name}`, whenBusy);
      }),
    );
    return race;
  }

  async function expectNothingLost({ id, posted, refused }: Race): Promise<Task[]> {
    const turns = await ended(api, id);
    const all = await messagesOf(api, id);
    const written = all.filter(({ role }) => role === 'user');
    const ids = (messages: readonly Message[]) => messages.map((message) => message.id).sort();

    expect(ids(written)).toEqual(ids(posted.map(({ message }) => message)));
    expect(posted.length + refused).toBe(4);
    expect(new Set(all.map((message) => message.id)).size).toBe(all.length);
    for (const turn of turns) {
      expect(all.filter(({ role, taskId }) => role === 'assistant' && taskId === turn.id).length, turn.id).toBe(1);
    }
    const events = await readLog(api, `/v1/conversations/${id}/events`);
    expect(overlaps(events)).toEqual([]);
    expect(overlapsOfCode(file, id)).toEqual([]);
    // Each is told, and last of all with the turn that it belongs to.
    for (const message of written) {
      const told = events.filter(({ type, data }) => type === 'message.completed' && data.message.id === message.id);
      expect(told.at(-1)?.data.message).toEqual(message);
    }
    return turns;
  }

  async function play(whenBusyOf: (dice: Dice) => WhenBusy, seed: number, check: (race: Race, turns: Task[]) => void) {
    const dice = diceOf(seed);
    for (let round = 0; round < rounds(100); round += AT_ONCE) {
      const races = await Promise.all(Array.from({ length: AT_ONCE }, () => race(() => whenBusyOf(dice), dice)));
      for (const each of races) check(each, await expectNothingLost(each));
    }
  }

  /** Which turns have the user's message; of a steered one, whether its turn has heard it. */
  function heardBy({ posted }: Race, turns: readonly Task[]): number[] {
    return posted.map(({ message }) => {
      const own = turns.filter(({ input }) => (input as { message: string }).message === message.content);
      const taken = turns.filter(({ output }) => Array.isArray(output) && output.includes(message.id));
      return own.length + taken.length;
    });
  }

  test('with interrupt: the last one is answered, and each before it has ended', () => {
    const seen = new Set<string>();
    return play(
      () => 'interrupt',
      SEED,
      ({ posted, refused }, turns) => {
        expect(refused).toBe(0);
        expect(turns.map(({ id }) => id).sort()).toEqual(posted.map(({ task }) => task.id).sort());
        expect(turns.at(-1)?.status).toBe('completed');
        expect(turns.every(({ status }) => status === 'completed' || status === 'cancelled')).toBe(true);
        for (const { status } of turns) seen.add(status);
      },
    ).then(() => expect(seen).toEqual(new Set(['completed', 'cancelled'])));
  });

  test('with enqueue: all are answered, in the order of their messages', () =>
    play(
      () => 'enqueue',
      SEED + 1,
      ({ refused }, turns) => {
        expect(refused).toBe(0);
        expect(turns.map(({ status }) => status)).toEqual(Array(4).fill('completed'));
        const starts = turns.map(({ startedAt }) => Date.parse(startedAt ?? ''));
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      },
    ));

  test('with reject: those that are taken are answered, and those that are not leave nothing', () =>
    play(
      () => 'reject',
      SEED + 2,
      ({ posted }, turns) => {
        expect(turns.map(({ id }) => id).sort()).toEqual(posted.map(({ task }) => task.id).sort());
        expect(turns.every(({ status }) => status === 'completed')).toBe(true);
      },
    ));

  test('with steer: each is heard by the turn that it was sent to, or has a turn of its own', () => {
    const seen = new Set<string>();
    return play(
      () => 'steer',
      SEED + 3,
      (race, turns) => {
        expect(race.refused).toBe(0);
        expect(heardBy(race, turns)).toEqual(Array(4).fill(1));
        expect(turns.every(({ status }) => status === 'completed')).toBe(true);
        for (const { output } of turns) if ((output as string[]).length > 0) seen.add('taken');
        if (turns.length > 1) seen.add('turn of its own');
      },
    ).then(() => expect(seen).toEqual(new Set(['taken', 'turn of its own'])));
  });

  test('with any: nothing is lost, and nothing runs beside another', () =>
    play(
      (dice) => dice.pick(['interrupt', 'enqueue', 'reject', 'steer']),
      SEED + 4,
      (race, turns) => {
        // What was sent to a turn that is interrupted stays a message of that.
        expect(heardBy(race, turns).every((times) => times <= 1)).toBe(true);
        expect(turns.every(({ status }) => status === 'completed' || status === 'cancelled')).toBe(true);
      },
    ));

  test('an answer that races an interruption wins or is too late, and the next turn is answered either way', async () => {
    const dice = diceOf(SEED + 5);
    const ends = new Set<string>();
    for (let round = 0; round < rounds(100); round++) {
      const id = await open(api);
      const messages = `/v1/conversations/${id}/messages`;
      const first = await api.post<Posted>(messages, { content: 'one', agent: 'doubter' });
      await api.settled(first.body.task.id);
      const question = await api.pendingQuestion(first.body.task.id);
      const [answered, second] = await Promise.all([
        delay(dice.below(8)).then(() => api.answer(question.id, 'yes')),
        delay(dice.below(3)).then(() => api.post<Posted>(messages, { content: '0 two', agent: 'racer' })),
      ]);
      const [one, two] = await ended(api, id);
      const resolved = await api.question(question.id);

      expect(second.status).toBe(202);
      expect(two?.status).toBe('completed');
      ends.add(resolved.status);
      if (answered.status === 200) expect(resolved).toMatchObject({ status: 'answered' });
      else {
        expect(answered.status).toBe(409);
        expect(resolved).toMatchObject({ status: 'cancelled', reason: 'interrupted', resolvedBy: null });
        expect(one?.status).toBe('cancelled');
      }
      const said = (await messagesOf(api, id)).map(({ role, content }) => `${role} ${content}`);
      expect(said.slice(0, 2)).toEqual(['user one', 'assistant Let me see.']);
      expect(said.at(-1)).toBe('assistant Heard | 0 two');
      expect(overlaps(await readLog(api, `/v1/conversations/${id}/events`))).toEqual([]);
    }
    expect(ends).toContain('cancelled');
  });

  test('two devices on one conversation are told the same: what the other has written and answered', async () => {
    const id = await open(api);
    const stream = `${server.url}/v1/conversations/${id}/events?after=0`;
    const [phone, laptop] = [await openSseReader(stream), await openSseReader(stream)];
    const { body } = await api.post<Posted>(`/v1/conversations/${id}/messages`, { content: 'one', agent: 'doubter' });

    const heard = await laptop.until((block) => isType('message.completed')(block));
    await laptop.until(isType('task.waiting'));
    const question = await api.pendingQuestion(body.task.id);
    const both = await Promise.all([api.answer(question.id, 'phone'), api.answer(question.id, 'laptop')]);
    await Promise.all([phone, laptop].map((device) => device.until(isType('task.completed'))));
    for (const device of [phone, laptop]) device.close();

    expect(JSON.parse(heard.data ?? '').data.message).toEqual(body.message);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const told = logEvents(phone.blocks);
    expect(told.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
    expect(logEvents(laptop.blocks)).toEqual(told);
  });
});

describe('§7 over a kill -9', () => {
  let server: ServerProcess | null = null;
  afterEach(() => server?.stop());

  async function start(dataDir: string): Promise<Api> {
    server = await startServerProcess({ agents: AGENTS, dataDir });
    return createApi(server.url);
  }

  test('a turn that is queued behind another survives, and a steered message that was not taken', async () => {
    const dir = newDirectory();
    const before = await start(dir);
    const id = await open(before);
    const messages = `/v1/conversations/${id}/messages`;
    const first = await before.post<Posted>(messages, { content: 'one', agent: 'doubter' });
    await before.settled(first.body.task.id);
    const queued = await before.post<Posted>(messages, { content: '5 two', agent: 'racer', whenBusy: 'enqueue' });
    const steered = await before.post<Posted>(messages, { content: 'late', whenBusy: 'steer' });
    const told = await messagesOf(before, id);

    await server?.kill();
    const api = await start(dir);
    const kept = await messagesOf(api, id);
    const question = await api.pendingQuestion(first.body.task.id);
    const waiting = await turnsOf(api, id);
    await api.answer(question.id, 'yes');
    await api.ended(queued.body.task.id);
    const [late] = (await turnsOf(api, id)).filter(({ input }) => (input as { message: string }).message === 'late');
    await api.settled(late?.id ?? '');
    await api.answer((await api.pendingQuestion(late?.id ?? '')).id, 'yes');
    const turns = await ended(api, id);

    expect(kept).toEqual(told);
    expect(waiting.map(({ id: each, status }) => [each, status])).toEqual([
      [first.body.task.id, 'waiting'],
      [queued.body.task.id, 'queued'],
    ]);
    expect(steered.body.task.id).toBe(first.body.task.id);
    expect(turns.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(overlaps(await readLog(api, `/v1/conversations/${id}/events`))).toEqual([]);
    const said = (await messagesOf(api, id)).map(({ role, content, taskId }) => [role, content, taskId]);
    expect(said.slice(0, 4)).toEqual([
      ['user', 'one', first.body.task.id],
      ['assistant', 'Let me see.', first.body.task.id],
      ['user', '5 two', queued.body.task.id],
      ['user', 'late', late?.id],
    ]);
  });

  test('no message that got its 202 is lost, and no two turns run at once, wherever the process is killed', async () => {
    const dir = newDirectory();
    const dice = diceOf(SEED + 6);
    let api = await start(dir);
    const conversations: { id: string; posted: Posted[] }[] = [];
    for (let round = 0; round < Math.ceil(rounds(100) / 10); round++) {
      const opened = await Promise.all(Array.from({ length: 5 }, () => open(api)));
      const writing = opened.map(async (id) => {
        const posted: Posted[] = [];
        conversations.push({ id, posted });
        for (let n = 0; n < 4; n++) {
          const whenBusy = dice.pick(['enqueue', 'steer', 'interrupt'] as const);
          const body = { content: `${dice.below(60)} ${n}`, agent: 'racer', whenBusy };
          const answer = await api.post<Posted>(`/v1/conversations/${id}/messages`, body).catch(() => null);
          if (answer?.status === 202) posted.push(answer.body);
          await delay(dice.below(30));
        }
      });
      await delay(20 + dice.below(100));
      await server?.kill();
      await Promise.all(writing);
      api = await start(dir);
    }

    for (const { id, posted } of conversations) {
      const turns = await ended(api, id);
      const all = await messagesOf(api, id);
      const ids = all.map((message) => message.id);
      expect(ids).toEqual(expect.arrayContaining(posted.map(({ message }) => message.id)));
      for (const turn of turns) {
        expect(all.some(({ role, taskId }) => role === 'assistant' && taskId === turn.id)).toBe(true);
      }
      expect(overlaps(await readLog(api, `/v1/conversations/${id}/events`))).toEqual([]);
    }
  }, 300_000);
});
