import { setTimeout as delay } from 'node:timers/promises';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

interface Turn {
  message: string;
}

async function* words(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of text.split(' ')) {
    await delay(3, undefined, { signal });
    yield `${word} `;
  }
}

const LONG = 'so this is what I have found and it goes on for a while until it ends';

/** Does what its message says, one word after the other; what is joined by `+` it does at once. */
export const program = defineAgent<Turn>({
  name: 'program',
  async run(task, { message }) {
    for (const [at, acts] of message.split(' ').entries()) {
      await Promise.all(acts.split('+').map((act, branch) => perform(task, act, `${act}-${at}-${branch}`)));
    }
    return message;
  },
});

async function perform(task: TaskHandle, act: string, name: string): Promise<void> {
  const tool = { toolCallId: `${task.id} ${name}`, name: act, input: { name } };
  switch (act) {
    case 'say':
      await task.say(name, ({ signal }) => words(`${name}: ${LONG}`, signal));
      break;
    case 'ramble':
      await task.say(name, ({ signal }) => words(`${name}: ${`${LONG} `.repeat(30)}`, signal));
      break;
    case 'work':
      await task.step(name, ({ signal }) => delay(10, null, { signal }));
      break;
    case 'think':
      // Speaks in the middle of a step.
      await task.step(name, async (step) => {
        await delay(5, undefined, { signal: step.signal });
        await step.say(words(`${name} ${LONG}`, step.signal));
      });
      break;
    case 'stutter':
      // What its first attempt says is discarded.
      await task.step(
        name,
        async (step) => {
          await step.say(words(`${name}, attempt ${step.attempt}`, step.signal));
          if (step.attempt === 1) throw new Error('It stutters.');
        },
        { retry: { attempts: 2, baseMs: 1 } },
      );
      break;
    case 'tool':
      await task.step(name, ({ signal }) => delay(15, { found: name }, { signal }), { tool });
      break;
    case 'broken':
      await task.step(name, () => delay(5).then(() => Promise.reject(new Error('No.'))), { tool }).catch(() => {});
      break;
    case 'ask':
      await task.ask(name, { items: [{ id: 'go', prompt: 'Go on?' }], timeoutMs: null });
      break;
    case 'child':
      await (await task.spawn(name, 'program', { message: 'say+tool ask' })).result();
      break;
    case 'hear':
      await task.say(name, `I heard ${(await task.inbox()).length}.`);
      break;
    case 'fail':
      throw new Error('It was told to.');
  }
}
