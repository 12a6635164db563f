import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

interface Turn {
  message: string;
  conversationId: string | null;
}

/** Answers with what was written to it. */
export const parrot = defineAgent<Turn>({
  name: 'parrot',
  run: (task, { message }) => task.say('answer', `You said: ${message}`),
});

/** Says nothing. */
export const silent = defineAgent<Turn>({ name: 'silent', run: () => null });

/** Begins to speak, and goes on when its question is answered. */
export const hesitant = defineAgent<Turn>({
  name: 'hesitant',
  async run(task, { message }) {
    await task.say('thinking', `About ${message}.`);
    const reply = await task.ask('sure', { items: [{ id: 'sure', prompt: 'Are you sure?' }], timeoutMs: null });
    await task.say('answer', `Sure: ${reply.status}.`);
    return reply.status;
  },
});

/** Speaks word by word and never comes to an end by itself. */
export const endless = defineAgent<Turn>({
  name: 'endless',
  run: (task, { message }) =>
    task.say('answer', async function* ({ signal }) {
      for (;;) {
        yield `${message} `;
        await delay(20, undefined, { signal });
      }
    }),
});

/** Takes what is sent to it at each of its steps, and says it all in the end. `message`: how many steps. */
export const listener = defineAgent<Turn>({
  name: 'listener',
  async run(task, { message }) {
    const heard: Json[] = [];
    for (let step = 0; step < Number(message); step++) {
      await task.step('work', () => delay(100));
      heard.push(...(await task.inbox()));
    }
    const contents = heard.map((entry) => (entry as { content: string }).content);
    await task.say('answer', contents.join(', '));
    return contents;
  },
});

/** Fails in the middle of what it says. */
export const stumbler = defineAgent<Turn>({
  name: 'stumbler',
  run: (task) =>
    task.say('answer', async function* () {
      yield 'So far';
      await delay(50);
      throw new Error('It stumbled.');
    }),
});

/** Fails with what it was told of the turns before; tried again, it may be told more. */
export const witness = defineAgent<Turn>({
  name: 'witness',
  async run(task) {
    await task.sleep('moment', 1);
    const history = (await task.conversation?.history()) ?? [];
    throw new Error(history.map(({ entries }) => entries.length).join() || 'nothing');
  },
});

/** Calls a tool, and comes to what it is told of the turns before. */
export const historian = defineAgent<Turn>({
  name: 'historian',
  async run(task, { message }) {
    const history = await task.conversation?.history();
    await task.step('look', () => ({ found: message }), {
      tool: { toolCallId: `call-${message}`, name: 'look', input: { for: message } },
    });
    await task.say('answer', `Found ${message}.`);
    return { history: (history ?? null) as Json };
  },
});
