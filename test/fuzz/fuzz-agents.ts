import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { TaskHandle } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

/** What {@link doer} does, one after the other. Whatever else is in its input goes round as it came. */
const plan = z.looseObject({
  emits: z.int().min(0).max(40).catch(0),
  says: z.string().max(2000).catch(''),
  asks: z.int().min(0).max(3).catch(0),
  spawns: z.int().min(0).max(2).catch(0),
  sleepMs: z.number().min(0).max(2000).catch(0),
  workMs: z.number().min(0).max(200).catch(0),
  fails: z.boolean().catch(false),
});

/** Does what its input says as far as it is a plan, and comes to its input. */
export const doer = defineAgent<Json>({
  name: 'fuzz-doer',
  async run(task, input) {
    const read = plan.safeParse(input);
    if (!read.success) return input;
    const { emits, says, asks, spawns, sleepMs, workMs, fails } = read.data;
    for (let n = 0; n < emits; n++) await task.emit('fuzz.mark', { n, input });
    if (says !== '') await task.say('said', says);
    if (workMs > 0) await task.step('work', ({ signal }) => delay(workMs, undefined, { signal }));
    const asked = Array.from({ length: asks }, (_, n) => ask(task, `q${n}`, input));
    const children = await Promise.all(
      Array.from({ length: spawns }, (_, n) => task.spawn(`c${n}`, 'fuzz-echo', input)),
    );
    if (sleepMs > 0) await task.sleep('rest', sleepMs);
    const answers = await Promise.all(asked);
    const results = await Promise.all(children.map((child) => child.result()));
    if (fails) throw new Error(`Told to fail: ${JSON.stringify(input).slice(0, 2000)}`);
    return { input, answers, results } as Json;
  },
});

/** Comes to its input at once. */
export const echo = defineAgent<Json>({ name: 'fuzz-echo', run: (_task, input) => input });

/** Asks one question of four kinds, and a second for what it was told. */
export const asker = defineAgent<Json>({
  name: 'fuzz-asker',
  async run(task, input) {
    const first = await ask(task, 'first', input);
    const second = await task.ask('second', { items: [{ id: 'a', prompt: 'And?' }], timeoutMs: 60_000 });
    return { first, second } as Json;
  },
});

/** Emits and speaks until it is cancelled or has had its time. */
export const talker = defineAgent<Json>({
  name: 'fuzz-talker',
  async run(task, input) {
    for (let n = 0; n < 40 && !task.signal.aborted; n++) {
      await task.emit('fuzz.talk', { n });
      await delay(25, undefined, { signal: task.signal });
    }
    return input;
  },
});

/** Refuses most inputs, and always fails with the others. */
export const failer = defineAgent({
  name: 'fuzz-failer',
  input: z.strictObject({ city: z.string().max(20) }),
  async run(task, { city }): Promise<Json> {
    await task.step('try', () => {
      throw new Error(`No way to ${city}.`);
    });
    return null;
  },
});

function ask(task: TaskHandle, name: string, input: Json): Promise<unknown> {
  const prompt = JSON.stringify(input).slice(0, 3000).replaceAll('\\u0000', '');
  return task.ask(name, {
    items: [
      { id: 'a', prompt, options: [{ label: 'Yes' }, { label: 'No', value: 'no' }], allowOther: true },
      { id: 'b', prompt: 'Many?', type: 'choice', multiple: true, options: [{ label: '1' }, { label: '__proto__' }] },
      { id: 'constructor', prompt: 'Count?', type: 'number', required: false },
      { id: 'd', prompt: 'Sure?', type: 'boolean', required: false },
    ],
    timeoutMs: 60_000,
  });
}
