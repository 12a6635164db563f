import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AskSpec } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

/**
 * Agents for what outlives their workers and their server. `file` outlives both: each writes there what its steps did,
 * one line a time.
 */

/** What has been done so far, in its order. */
export function doneIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

function timesDone(file: string, what: string): number {
  return doneIn(file).filter((done) => done === what).length;
}

/** Does a step, tells of it, asks, and does another. */
export const clerk = defineAgent<{ file: string; spec: AskSpec }>({
  name: 'clerk',
  async run(task, { file, spec }) {
    const before = await task.step('before', () => noteDone(file, 'before'));
    await task.emit('clerk.prepared', { before });
    const reply = await task.ask('question', spec);
    const after = await task.step('after', () => noteDone(file, 'after'));
    return { before, reply, after };
  },
});

/** Does one step, and then another that does not come to its end as long as nobody has written `go` into the file. */
export const plodder = defineAgent<{ file: string }>({
  name: 'plodder',
  async run(task, { file }) {
    const first = await task.step('first', () => noteDone(file, 'first'));
    const id = task.uuid('order');
    await task.emit('plodder.begun', { id });
    const second = await task.step('second', async ({ attempt, signal }) => {
      noteDone(file, `second ${attempt}`);
      while (timesDone(file, 'go') === 0) await delay(20, null, { signal });
      return `second ${attempt}`;
    });
    return { first, id, second, attempt: task.attempt };
  },
});

/** Its second step fails as often as it is told to, and then succeeds. */
export const flaky = defineAgent<{ file: string; failures: number }>({
  name: 'flaky',
  async run(task, { file, failures }) {
    await task.step('steady', () => noteDone(file, 'steady'));
    await task.emit('flaky.ready');
    await task.step('shaky', () => {
      noteDone(file, 'shaky');
      if (timesDone(file, 'shaky') <= failures) throw new Error('shaken');
    });
    await task.emit('flaky.done');
    return task.attempt;
  },
});

/** Spawns one child a branch and waits for all of them. `input` is that of each child's agent. */
export const parent = defineAgent<{ agent: string; input: Json }[]>({
  name: 'parent',
  async run(task, children) {
    const results = children.map(async ({ agent, input }, n) => {
      const child = await task.spawn(`child-${n}`, agent, input);
      return child.result();
    });
    await task.emit('parent.spawned');
    return (await Promise.all(results)) as Json;
  },
});

/** Spawns a chain of itself so many deep; the last one asks. */
export const chain = defineAgent<{ depth: number; spec: AskSpec }>({
  name: 'chain',
  async run(task, { depth, spec }) {
    if (depth === 0) return task.ask('at-the-end', spec);
    const child = await task.spawn('next', 'chain', { depth: depth - 1, spec } as unknown as Json);
    return child.result();
  },
});

export const refuser = defineAgent<string>({
  name: 'refuser',
  run(_task, why) {
    throw new Error(why);
  },
});

export const questioner = defineAgent<AskSpec>({ name: 'questioner', run: (task, spec) => task.ask('question', spec) });

/** Does not stop when it is aborted, but so many ms later. */
export const dawdler = defineAgent<{ file: string; ms: number }>({
  name: 'dawdler',
  async run(task, { file, ms }) {
    await task.step('dawdle', async ({ signal }) => {
      noteDone(file, 'begun');
      while (!signal.aborted) await delay(10);
      await delay(ms);
      noteDone(file, 'stopped');
    });
  },
});

/** Writes its name into the file when it begins. */
export const marker = defineAgent<{ file: string; name: string }>({
  name: 'marker',
  run: (_task, { file, name }) => noteDone(file, name),
});

/** Writes there what has been done. */
export function noteDone(file: string, what: string): string {
  appendFileSync(file, `${what}\n`);
  return what;
}
