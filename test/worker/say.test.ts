import { afterEach, describe, expect, test } from 'vitest';
import type { StepHandle, TaskHandle } from '../../src/model/agent.ts';
import type { NewEvent } from '../../src/model/event.ts';
import { isId } from '../../src/model/id.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MAX_MESSAGE_BYTES } from '../../src/worker/message-stream.ts';
import { MainSide } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

function textOf(events: readonly NewEvent[]): string {
  return events.map(({ data }) => JSON.parse(data).text).join('');
}

/** Yields the same text until it is closed or has done so often enough, and tells what was done with it. */
class WatchedSource implements AsyncIterable<string>, AsyncIterator<string> {
  taken = 0;
  isClosed = false;
  readonly #text: string;
  readonly #length: number;
  readonly #take = defer<void>();
  readonly #close = defer<void>();

  constructor(text = 'x'.repeat(2000), length = Number.POSITIVE_INFINITY) {
    this.#text = text;
    this.#length = length;
  }

  get wasTaken(): Promise<void> {
    return this.#take.promise;
  }

  get wasClosed(): Promise<void> {
    return this.#close.promise;
  }

  [Symbol.asyncIterator](): AsyncIterator<string> {
    return this;
  }

  async next(): Promise<IteratorResult<string>> {
    if (this.isClosed || this.taken === this.#length) return { done: true, value: undefined };
    this.taken++;
    this.#take.resolve();
    return { done: false, value: this.#text };
  }

  async return(): Promise<IteratorResult<string>> {
    this.isClosed = true;
    this.#close.resolve();
    return { done: true, value: undefined };
  }
}

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('say', () => {
  test('streams a string as one delta of a message that begins and ends with its step', async () => {
    await run((task) => task.say('hello', 'Hello 🚀'));
    const start = await main.commit('startStep');
    const delta = await main.commit('append');
    const settled = await main.commit('settleStep');

    const messageId = start.messageId ?? '';
    expect(isId('msg', messageId)).toBe(true);
    expect(delta.events).toEqual([
      {
        taskId: 'task_1',
        conversationId: null,
        type: 'message.delta',
        step: '{"name":"hello","attempt":1}',
        data: JSON.stringify({ messageId, text: 'Hello 🚀' }),
      },
    ]);
    expect(settled).toMatchObject({
      outcome: { status: 'completed' },
      message: { id: messageId, content: 'Hello 🚀' },
    });
    expect(await main.next('end')).toMatchObject({ ending: { output: 'Hello 🚀' } });
  });

  test('of nothing streams no delta and completes an empty message', async () => {
    await run((task) => task.say('hello', () => pieces()));
    await main.commit('startStep');

    expect(await main.commit('settleStep')).toMatchObject({ message: { content: '' } });
    expect(await main.next('end')).toMatchObject({ ending: { output: '' } });
  });

  test('gathers what comes from a source, whole surrogate pairs only', async () => {
    await run((task) => task.say('hello', () => pieces('a\ud83d', '\ude80', 'b')));
    await main.commit('startStep');

    const { events } = await main.commit('append');

    expect(events.filter(({ data }) => /\p{Surrogate}/u.test(JSON.parse(data).text))).toEqual([]);
    expect(textOf(events)).toBe('a🚀b');
    expect(await main.commit('settleStep')).toMatchObject({ message: { content: 'a🚀b' } });
  });

  test('asks a source for no more than reaches the disk', async () => {
    let taken = 0;
    async function* endless() {
      for (;;) {
        taken++;
        yield 'x'.repeat(2000);
      }
    }
    await run((task) => task.say('hello', endless));
    await main.commit('startStep');
    await main.next('append');
    await main.settle();
    const before = taken;
    await main.settle();

    expect(before).toBeLessThan(10);
    expect(taken).toBe(before);
  });

  test('may be as long as a message is, whatever JSON makes of it', async () => {
    await run(async (task) => void (await task.say('hello', '"'.repeat(MAX_MESSAGE_BYTES))));
    await main.commit('startStep');

    let settled = await main.any();
    while (settled.kind === 'append') {
      main.ack(settled);
      settled = await main.any();
    }
    expect(settled).toMatchObject({ kind: 'settleStep', outcome: { status: 'completed' } });
  });

  test('fails with its source, and its message holds what was said before', async () => {
    async function* broken() {
      yield* ['a', 'b'];
      throw new Error('connection lost');
    }
    await run((task) => task.say('hello', broken));
    const { messageId } = await main.commit('startStep');
    expect(textOf((await main.commit('append')).events)).toBe('a');

    expect(await main.commit('settleStep')).toMatchObject({
      outcome: { status: 'failed', retryInMs: null },
      message: { id: messageId, content: 'ab' },
    });
    expect(await main.next('end')).toMatchObject({ ending: { error: { message: 'connection lost' } } });
  });

  test.each([
    ['what is no text', () => JSON.parse('42'), 'A message is a string or an async iterable of strings.'],
    [
      'too much of it',
      () => 'x'.repeat(MAX_MESSAGE_BYTES + 1),
      `A message may hold ${MAX_MESSAGE_BYTES} bytes of text.`,
    ],
  ])('fails for %s', async (_, text, message) => {
    await run((task) => task.say('hello', text));
    await main.commit('startStep');
    expect(await main.commit('settleStep')).toMatchObject({ message: { content: '' } });

    expect(await main.next('end')).toMatchObject({ ending: { error: { message } } });
  });
});

describe('a source of text', () => {
  test.each([
    ['the copy is dropped', () => main.drop(1), {}],
    ['the step has used up its time', () => {}, { timeoutMs: 20 }],
  ])('is closed while its deltas are on their way when %s', async (_, end, options) => {
    const source = new WatchedSource();
    await run((task) => task.step('s', (step) => step.say(source), options));
    await main.commit('startStep');
    await main.next('append');

    end();
    await source.wasClosed;

    const { taken } = source;
    await main.settle();
    expect(source.taken).toBe(taken);
  });

  test('is closed when it yields what is no text', async () => {
    const source = new WatchedSource(JSON.parse('1'));
    await run((task) => task.say('hello', () => source));
    await main.commit('startStep');
    await main.commit('settleStep');

    expect(source.isClosed).toBe(true);
  });

  test('is not closed when it has ended, as a loop over it would not', async () => {
    const source = new WatchedSource('x', 3);
    await run((task) => task.say('hello', () => source));
    await main.commit('startStep');
    await main.commit('append');

    expect(await main.commit('settleStep')).toMatchObject({ message: { content: 'xxx' } });
    expect(source.isClosed).toBe(false);
  });

  test('that fails when it is closed changes nothing', async () => {
    const source = new WatchedSource(JSON.parse('1'));
    source.return = () => Promise.reject(new Error('hostile'));
    await run((task) => task.say('hello', () => source));
    await main.commit('startStep');
    await main.commit('settleStep');

    const message = "A message's text must be strings, not number.";
    expect(await main.next('end')).toMatchObject({ ending: { error: { message } } });
  });
});

describe("a step's say", () => {
  test('begins a message inside the step and completes it with the step', async () => {
    await run((task) => task.step('s', (step) => step.say(pieces('a', 'b'))));
    expect(await main.commit('startStep')).toMatchObject({ messageId: null });

    const { events } = await main.commit('append');
    const { message } = await main.commit('settleStep');

    expect(events[0]).toMatchObject({
      type: 'message.started',
      step: '{"name":"s","attempt":1}',
      data: JSON.stringify({ messageId: message?.id, role: 'assistant' }),
    });
    expect(textOf(events.slice(1))).toBe('ab');
    expect(message?.content).toBe('ab');
  });

  test('is awaited by the step even where its function does not', async () => {
    const rest = defer<string>();
    async function* slow() {
      yield 'a';
      yield await rest.promise;
    }
    await run((task) => task.step('s', (step) => void step.say(slow())));
    await main.commit('startStep');
    await main.commit('append');
    await main.settle();
    expect(main.unread).toEqual([]);

    rest.resolve('b');
    await main.commit('append');

    expect(await main.commit('settleStep')).toMatchObject({ message: { content: 'ab' } });
  });

  test('holds what was said so far when its function throws meanwhile', async () => {
    const source = new WatchedSource();
    await run((task) =>
      task.step('s', async (step) => {
        void step.say(source);
        await source.wasTaken;
        throw new Error('no seats');
      }),
    );
    await main.commit('startStep');
    await main.commit('append');

    const { message } = await main.commit('settleStep');

    expect(message?.content).toBe('x'.repeat(2000 * source.taken));
    await main.settle();
    expect(source.isClosed).toBe(true);
  });

  test('never settles once the step is over, so that no catch or finally acts on it', async () => {
    const acted: string[] = [];
    await run((task) =>
      task.step('s', (step) => step.say(new WatchedSource()).finally(() => acted.push('say')), { timeoutMs: 20 }),
    );
    await main.commit('startStep');
    await main.next('append');
    await main.next('settleStep');
    await main.settle();

    expect(acted).toEqual([]);
  });

  test('takes nothing from a source that it is given when the step is over', async () => {
    const source = new WatchedSource();
    await run(async (task) => {
      let leaked: StepHandle | undefined;
      await task.step('s', (step) => {
        leaked = step;
      });
      void leaked?.say(source);
      await task.sleep('z', 1);
    });
    await main.commit('startStep');
    await main.commit('settleStep');
    await main.next('sleep');
    await main.settle();

    expect(source.taken).toBe(0);
  });

  test('rejects a second message of the same attempt', async () => {
    await run((task) =>
      task.step('s', async (step) => {
        await step.say('a');
        return step.say('b').catch((error: Error) => error.message);
      }),
    );
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');

    expect(await main.next('end')).toMatchObject({ ending: { output: 'The step "s" has its message already.' } });
  });
});
