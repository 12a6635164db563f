import { afterEach, describe, expect, test } from 'vitest';
import type { StepHandle, TaskHandle } from '../../src/model/agent.ts';
import { defer } from '../../src/worker/deferred.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MAX_VALUE_BYTES } from '../../src/worker/step-attempt.ts';
import { MainSide } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => main.close());

async function run(code: (task: TaskHandle) => unknown): Promise<void> {
  main = new MainSide([defineAgent({ name: 'agent', run: code })]);
  main.start('agent');
  await main.next('ready');
}

describe('a step', () => {
  test('begins when its start was sent, and its value comes when its end is on disk', async () => {
    let value: unknown = 'none yet';
    await run(async (task) => {
      value = await task.step('s', () => ({ flights: 2, none: undefined }));
    });
    expect(await main.next('startStep')).toMatchObject({
      step: { name: 's', attempt: 1 },
      messageId: null,
      tool: null,
    });

    const settled = await main.next('settleStep');
    await main.settle();
    expect(settled).toMatchObject({ step: { name: 's', attempt: 1 }, outcome: { status: 'completed' }, message: null });
    expect(value).toBe('none yet');
    main.ack(settled);
    await main.next('end');

    expect(value).toEqual({ flights: 2 });
  });

  test('numbers a repeated name in the order of the calls, with one counter for all kinds', async () => {
    await run(async (task) => {
      await Promise.all([task.step('x', () => 1), task.sleep('x', 1), task.say('x', 'a'), task.step('y', () => 1)]);
    });

    expect(await main.next('startStep')).toMatchObject({ step: { name: 'x' } });
    expect(await main.next('sleep')).toMatchObject({ key: 'x#2' });
    expect(await main.next('startStep')).toMatchObject({ step: { name: 'x#3' } });
    expect(await main.next('startStep')).toMatchObject({ step: { name: 'y' } });
  });

  test('fails with the error that is journaled, never with the object that was thrown', async () => {
    const cause = Object.assign(new TypeError('no plane'), { code: 'ENOPLANE' });
    const thrown = Object.assign(new RangeError('no seats', { cause }), { seats: 0, plane: { rows: 30 } });
    let caught: unknown;
    await run(async (task) => {
      await task.step('s', () => Promise.reject(thrown)).catch((error: unknown) => (caught = error));
    });
    await main.commit('startStep');

    const { outcome } = await main.commit('settleStep');
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'agent_error', message: 'no seats' } });
    expect(JSON.parse(outcome.status === 'failed' ? outcome.failure : '')).toEqual({
      name: 'RangeError',
      message: 'no seats',
      fields: { seats: 0 },
      cause: { name: 'TypeError', message: 'no plane', fields: { code: 'ENOPLANE' }, cause: null },
    });
    await main.next('end');
    expect(caught).not.toBeInstanceOf(RangeError);
    expect(caught).toMatchObject({ name: 'RangeError', message: 'no seats', seats: 0, stack: thrown.stack });
    expect(caught).toMatchObject({ cause: { name: 'TypeError', message: 'no plane', code: 'ENOPLANE' } });
  });

  test.each([
    ['a bigint', () => ({ price: 1n }), '"price" is a bigint, which is not JSON.'],
    ['a number that is none', () => [Number.NaN], '"0" is NaN, which is not JSON.'],
    ['a function', () => () => 1, 'a function is not JSON.'],
    ['a Map', () => new Map(), 'a Map is not JSON.'],
  ])('fails when it returns %s', async (_, fn, message) => {
    await run((task) => task.step<unknown>('s', fn));
    await main.commit('startStep');
    await main.commit('settleStep');

    expect(await main.next('end')).toMatchObject({
      ending: { status: 'failed', error: { code: 'agent_error', message } },
    });
  });

  test('turns undefined into null', async () => {
    await run(async (task) => [await task.step('s', () => {})]);
    await main.commit('startStep');
    await main.commit('settleStep');

    expect(await main.next('end')).toMatchObject({ ending: { output: [null] } });
  });

  test('that nobody awaits may fail', async () => {
    await run(async (task) => {
      void task.step('s', () => Promise.reject(new Error('x')));
      await task.sleep('z', 1);
    });
    await main.commit('startStep');
    await main.commit('sleep');
    await main.commit('settleStep');

    await main.next('wait');
  });

  test('tells which call of a tool it is', async () => {
    await run((task) => task.step('s', () => 3, { tool: { toolCallId: 'c1', name: 'add', input: { a: 1 } } }));

    expect(await main.commit('startStep')).toMatchObject({ tool: { toolCallId: 'c1', name: 'add', input: { a: 1 } } });
    expect(await main.commit('settleStep')).toMatchObject({ tool: { toolCallId: 'c1', output: 3 } });
  });

  test('has a larger value than it tells of as the output of a tool', async () => {
    const tool = { toolCallId: 'c1', name: 'fetch', input: null };
    const fits = 'x'.repeat(64 * 1024 - 2);
    const lengths: number[] = [];
    await run(async (task) => {
      for (const page of [fits, `${fits}x`]) lengths.push((await task.step('s', () => page, { tool })).length);
    });

    await main.commit('startStep');
    expect((await main.commit('settleStep')).tool).toEqual({ toolCallId: 'c1', output: fits });
    await main.commit('startStep');
    expect((await main.commit('settleStep')).tool).toEqual({ toolCallId: 'c1', output: null, truncated: true });
    await main.next('end');
    expect(lengths).toEqual([fits.length, fits.length + 1]);
  });

  test('fails when its value is over 1 MiB', async () => {
    const largest = 'x'.repeat(MAX_VALUE_BYTES - 2);
    await run(async (task) => {
      await task.step('s', () => largest);
      await task.step('s', () => `${largest}x`);
    });
    await main.commit('startStep');
    expect(await main.commit('settleStep')).toMatchObject({ outcome: { status: 'completed' } });
    await main.commit('startStep');
    await main.commit('settleStep');

    const message = `A step's value may hold ${MAX_VALUE_BYTES} bytes of JSON.`;
    expect(await main.next('end')).toMatchObject({ ending: { error: { code: 'agent_error', message } } });
  });

  test('gives up when its time is over, and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const forever = (step: StepHandle) => {
      signal = step.signal;
      return new Promise<never>(() => {});
    };
    await run((task) => task.step('s', forever, { timeoutMs: 5 }));
    await main.commit('startStep');
    await main.commit('settleStep');

    const message = 'The step "s" took longer than 5 ms.';
    expect(await main.next('end')).toMatchObject({ ending: { error: { code: 'agent_error', message } } });
    expect(signal?.reason).toMatchObject({ name: 'StepTimeoutError', message });
  });

  test('aborts its signal when it fails, so that nothing of it goes on', async () => {
    let signal: AbortSignal | undefined;
    const thrown = new Error('no seats');
    await run((task) =>
      task.step('s', (step) => {
        signal = step.signal;
        throw thrown;
      }),
    );
    await main.commit('startStep');
    await main.commit('settleStep');

    expect(signal?.reason).toBe(thrown);
  });

  test('whose code has ended meanwhile is aborted and reports nothing', async () => {
    let signal: AbortSignal | undefined;
    const goOn = defer<void>();
    await run(async (task) => {
      void task.step('s', async (step) => {
        signal = step.signal;
        await goOn.promise;
        void step.emit('my.event');
      });
      await task.emit('my.event');
    });
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('end');

    expect(signal?.aborted).toBe(true);
    goOn.resolve();
    await main.settle();
    expect(main.unread).toEqual([]);
  });
});

describe('a step that is retried', () => {
  const retry = { attempts: 3, baseMs: 1, maxMs: 2 };

  test('tells of each attempt, and only its last outcome reaches the code', async () => {
    let runs = 0;
    const keys = new Set<string>();
    await run((task) =>
      task.step(
        's',
        (step) => {
          keys.add(step.idempotencyKey);
          runs++;
          if (step.attempt < 3) throw new Error(`failure ${step.attempt}`);
          return `after ${runs} runs`;
        },
        { retry },
      ),
    );

    expect(await main.commit('startStep')).toMatchObject({ step: { attempt: 1 } });
    const failed = await main.commit('settleStep');
    expect(failed).toMatchObject({ step: { attempt: 1 }, outcome: { error: { message: 'failure 1' } } });
    expect(failed.outcome).toSatisfy((outcome: { retryInMs: number }) => [0, 1].includes(outcome.retryInMs));
    expect(await main.commit('startStep')).toMatchObject({ step: { attempt: 2 } });
    await main.commit('settleStep');
    expect(await main.commit('startStep')).toMatchObject({ step: { attempt: 3 } });
    expect(await main.commit('settleStep')).toMatchObject({ outcome: { status: 'completed' } });
    expect(await main.next('end')).toMatchObject({ ending: { output: 'after 3 runs' } });
    expect(keys.size).toBe(1);
  });

  test('fails with an error that throws when it is read', async () => {
    const thrown = {
      get status() {
        throw new Error('hostile');
      },
    };
    let caught: unknown;
    await run(async (task) => {
      await task.step('s', () => Promise.reject(thrown), { retry }).catch((error: unknown) => (caught = error));
    });
    await main.commit('startStep');
    await main.commit('settleStep');

    await main.next('end');
    expect(caught).toBeInstanceOf(Error);
  });

  test('fails with its last error when no attempt is left', async () => {
    await run((task) =>
      task.step('s', ({ attempt }) => Promise.reject(new Error(`failure ${attempt}`)), {
        retry: { ...retry, attempts: 2 },
      }),
    );
    for (let attempt = 1; attempt <= 2; attempt++) {
      await main.commit('startStep');
      await main.commit('settleStep');
    }

    expect(await main.next('end')).toMatchObject({ ending: { error: { message: 'failure 2' } } });
  });

  test('begins another message with each attempt', async () => {
    await run((task) =>
      task.step(
        's',
        async (step) => {
          await step.say(`try ${step.attempt}`);
          if (step.attempt === 1) throw new Error('no');
        },
        { retry },
      ),
    );
    await main.commit('startStep');
    await main.commit('append');
    const failed = await main.commit('settleStep');
    await main.commit('startStep');
    await main.commit('append');
    const completed = await main.commit('settleStep');

    expect(failed.message?.content).toBe('try 1');
    expect(completed.message?.content).toBe('try 2');
    expect(failed.message?.id).not.toBe(completed.message?.id);
  });
});

describe("a step's own handle", () => {
  test('sends events that name the step and the attempt', async () => {
    await run((task) =>
      task.step('s', async (step) => {
        await Promise.all([step.emit('my.event', { a: 1 }), step.progress(null, 'well')]);
      }),
    );
    await main.commit('startStep');

    const step = '{"name":"s","attempt":1}';
    expect((await main.commit('append')).events).toEqual([
      { taskId: 'task_1', conversationId: null, type: 'my.event', step, data: '{"a":1}' },
      { taskId: 'task_1', conversationId: null, type: 'task.progress', step, data: '{"fraction":null,"note":"well"}' },
    ]);
    await main.commit('settleStep');
  });

  test('is dead when the function has ended', async () => {
    await run(async (task) => {
      let leaked: StepHandle | undefined;
      await task.step('s', (step) => {
        leaked = step;
      });
      void leaked?.emit('my.event');
      await task.sleep('z', 1);
    });
    await main.commit('startStep');
    await main.commit('settleStep');

    await main.next('sleep');
  });

  test('is the only one that works inside the function', async () => {
    const codes: unknown[] = [];
    await run((task) =>
      task.step('s', async () => {
        const calls = [
          () => task.step('t', () => 1),
          () => task.emit('my.event'),
          () => task.sleep('z', 1),
          async () => task.now(),
          async () => task.random('r'),
        ];
        for (const call of calls) await call().catch((error: { code: unknown }) => codes.push(error.code));
      }),
    );
    await main.commit('startStep');

    await main.commit('settleStep');

    expect(codes).toEqual(Array(5).fill('nested_call'));
  });

  test('leaves the rest of the code free to use the task at the same time', async () => {
    const inside = defer<void>();
    await run(async (task) => {
      const step = task.step('s', () => inside.promise);
      await task.emit('my.event');
      inside.resolve();
      await step;
      await task.emit('my.event');
    });
    await main.commit('startStep');
    await main.commit('append');
    await main.commit('settleStep');
    await main.commit('append');

    expect(await main.next('end')).toMatchObject({ ending: { status: 'completed' } });
  });
});
