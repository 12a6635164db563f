import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Json } from '../../src/model/json.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

interface Turn {
  message: string;
  conversationId: string;
}

/** Every run of a step's function writes here when it begins and when it has let go. */
const FILE = process.env.RACE_FILE ?? '';

/** A step of so many ms as its message begins with, then a look into its inbox; comes to what it has heard. */
export const racer = defineAgent<Turn>({
  name: 'racer',
  async run(task, { message, conversationId }) {
    const mark = (what: string) => FILE !== '' && appendFileSync(FILE, `${conversationId} ${task.id} ${what}\n`);
    await task.step('work', async ({ signal }) => {
      mark('begins');
      await delay(Number.parseInt(message, 10), undefined, { signal }).finally(() => mark('ends'));
    });
    const heard = (await task.inbox()) as { content: string; messageId: string }[];
    await task.say('answer', ['Heard', message, ...heard.map(({ content }) => content)].join(' | '));
    return heard.map(({ messageId }) => messageId) as Json;
  },
});

/** Asks once, and says what came of it. */
export const doubter = defineAgent<Turn>({
  name: 'doubter',
  async run(task) {
    await task.say('thinking', 'Let me see.');
    const reply = await task.ask('sure', { items: [{ id: 'sure', prompt: 'Are you sure?' }], timeoutMs: null });
    await task.say('answer', reply.status);
    return reply.status;
  },
});
