import { z } from 'zod';
import type { StepHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';

const speech = z.object({
  pieces: z.array(z.string()),
  /** What its source throws after the pieces. */
  throws: z.string().optional(),
  /** After the pieces its source yields nothing more until the task is aborted. */
  hangs: z.boolean().default(false),
});

const tool = z.object({ toolCallId: z.string(), name: z.string(), input: z.json() });

const op = z.discriminatedUnion('op', [
  z.object({ op: z.literal('say'), name: z.string() }).extend(speech.shape),
  /** A function that says something if it is told to, throws in its first runs, and then returns `output`. */
  z.object({
    op: z.literal('step'),
    name: z.string(),
    says: speech.optional(),
    failures: z.int().default(0),
    /** Runs in all. */
    attempts: z.int().default(1),
    output: z.json().default(null),
    tool: tool.optional(),
  }),
  z.object({ op: z.literal('progress'), fraction: z.number().nullable(), note: z.string().optional() }),
  z.object({ op: z.literal('emit'), type: z.string(), data: z.json().optional() }),
  /** Asks by each name at once, and goes on when all have been resolved. */
  z.object({ op: z.literal('ask'), names: z.array(z.string()), timeoutMs: z.number().optional() }),
  z.object({ op: z.literal('sleep'), name: z.string(), ms: z.number() }),
  z.object({ op: z.literal('fail'), message: z.string() }),
]);

export type EventOp = z.input<typeof op>;
type Speech = z.infer<typeof speech>;
type StepOp = Extract<z.infer<typeof op>, { op: 'step' }>;

/** Does what its input lists, goes on after what fails, and returns the messages of those failures. */
export const teller = defineAgent({
  name: 'teller',
  input: z.object({ ops: z.array(op) }),
  async run(task, { ops }) {
    const failures: string[] = [];
    const note = (error: Error) => void failures.push(error.message);
    for (const each of ops) {
      switch (each.op) {
        case 'say':
          await task.say(each.name, () => source(each, task.signal)).catch(note);
          break;
        case 'step': {
          const { tool, attempts } = each;
          const options = { retry: { attempts, baseMs: 20 }, ...(tool !== undefined && { tool }) };
          await task.step(each.name, (step) => runStep(each, step), options).catch(note);
          break;
        }
        case 'progress':
          await task.progress(each.fraction, each.note);
          break;
        case 'emit':
          await task.emit(each.type, each.data);
          break;
        case 'ask': {
          const items = [{ id: 'a', prompt: 'Well?' }];
          const spec = { items, ...(each.timeoutMs !== undefined && { timeoutMs: each.timeoutMs }) };
          await Promise.all(each.names.map((name) => task.ask(name, spec)));
          break;
        }
        case 'sleep':
          await task.sleep(each.name, each.ms);
          break;
        case 'fail':
          throw new Error(each.message);
      }
    }
    return { failures };
  },
});

async function runStep({ name, says, failures, output }: StepOp, step: StepHandle): Promise<unknown> {
  if (says !== undefined) await step.say(source(says, step.signal));
  if (step.attempt <= failures) throw new Error(`${name} failed in run ${step.attempt}`);
  return output;
}

async function* source({ pieces, throws, hangs }: Speech, signal: AbortSignal): AsyncGenerator<string> {
  yield* pieces;
  if (throws !== undefined) throw new Error(throws);
  if (hangs) await new Promise((resolve) => signal.addEventListener('abort', resolve));
}
