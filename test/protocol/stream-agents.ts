import { z } from 'zod';
import { defineAgent } from '../../src/worker/define-agent.ts';

const op = z.discriminatedUnion('op', [
  /** `count` events of one type, `data` with the number of each as `n` beside it. */
  z.object({
    op: z.literal('emit'),
    type: z.string().default('note.taken'),
    data: z.record(z.string(), z.json()).default({}),
    count: z.int().default(1),
  }),
  /** Halts until a person answers. */
  z.object({ op: z.literal('ask'), name: z.string().default('go') }),
  z.object({ op: z.literal('say'), name: z.string().default('words'), text: z.string(), times: z.int().default(1) }),
  z.object({ op: z.literal('step'), name: z.string() }),
  z.object({ op: z.literal('fail'), message: z.string() }),
]);

export type Op = z.input<typeof op>;

/** Does what its input lists, and returns which events were refused: so a test decides what is in a log, and when. */
export const script = defineAgent({
  name: 'script',
  input: z.object({ ops: z.array(op) }),
  async run(task, { ops }) {
    const refused: string[] = [];
    for (const each of ops) {
      switch (each.op) {
        case 'emit': {
          const emits = Array.from({ length: each.count }, (_, n) => task.emit(each.type, { n, ...each.data }));
          const outcomes = await Promise.allSettled(emits);
          if (outcomes.some(({ status }) => status === 'rejected')) refused.push(each.type);
          break;
        }
        case 'ask':
          await task.ask(each.name, {
            items: [{ id: 'go', prompt: 'Go on?', type: 'boolean' }],
            metadata: { asked: each.name },
          });
          break;
        case 'say':
          await task.say(each.name, each.text.repeat(each.times));
          break;
        case 'step':
          await task.step(each.name, (step) => step.emit('note.taken', { in: each.name }));
          break;
        case 'fail':
          throw new Error(each.message);
      }
    }
    return { refused };
  },
});
