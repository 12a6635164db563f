import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent } from '../../src/worker/define-agent.ts';

interface Turn {
  message: string;
}

async function* words(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of text.split(' ')) {
    await delay(4, undefined, { signal });
    yield `${word} `;
  }
}

const LONG = 'so this is what I have found and it goes on for a while until it ends';

/** Does what its message says, one word after the other. */
export const actor = defineAgent<Turn>({
  name: 'actor',
  async run(task, { message }) {
    for (const [at, act] of message.split(' ').entries()) {
      const name = `${act}-${at}`;
      const toolCallId = `${task.id}-${at}`;
      switch (act) {
        case 'say':
          await task.say(name, ({ signal }) => words(`${name}: ${LONG}`, signal));
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
          await task.step(name, ({ signal }) => delay(15, { found: at }, { signal }), {
            tool: { toolCallId, name: 'look', input: { at } },
          });
          break;
        case 'broken':
          await task
            .step(name, ({ signal }) => delay(5, undefined, { signal }).then(() => Promise.reject(new Error('No.'))), {
              tool: { toolCallId, name: 'break', input: null },
            })
            .catch(() => {});
          break;
        case 'ask':
          await task.ask(name, { items: [{ id: 'go', prompt: 'Go on?' }], timeoutMs: null });
          break;
        case 'nap':
          await task.sleep(name, 20);
          break;
        case 'child': {
          const child = await task.spawn(name, 'actor', { message: 'say tool' });
          await child.result();
          break;
        }
        case 'hear':
          await task.say(name, `I heard ${(await task.inbox()).length}.`);
          break;
        case 'fail':
          throw new Error('It was told to.');
      }
    }
    return message;
  },
});
