import type { QuestionRecord } from '../../src/model/question.ts';
import { isTerminal } from '../../src/model/task.ts';
import { diceOf } from '../support/dice.ts';
import { differ } from './audit.ts';
import { inWorld } from './in-world.ts';
import { interpreter } from './interpret.ts';
import type { Fault } from './moves.ts';
import type { Answer } from './outside.ts';
import { type Program, programInput } from './program.ts';
import { predict } from './reference.ts';
import { callsOf, deliveriesOf, type TraceEntry } from './trace.ts';
import type { World } from './world.ts';

/** Runs a program to its end, and those that try it again when it has failed. */
export async function runProgram<T>(
  program: Program,
  { seed, faults }: { seed: number; faults: readonly Fault[] },
  check: (world: World, taskIds: readonly string[]) => Promise<T>,
): Promise<T> {
  const dice = diceOf(seed * 3 + 1);
  const options = {
    seed,
    faults,
    agents: { program: interpreter },
    workers: 1 + dice.below(2),
    warmMs: dice.pick([0, 20, 10_000]),
    person: ({ metadata }: QuestionRecord): Answer => {
      const reply = metadata.reply;
      return reply === 'answer' || reply === 'decline' ? reply : null;
    },
  };
  return inWorld(options, async (world) => {
    const taskIds = [world.create('program', programInput(program), program.maxAttempts)];
    for (let n = 0; n < program.messages; n++) {
      const [taskId = ''] = taskIds;
      const earliest = dice.below(30);
      const call = { verb: 'addToInbox', args: { taskId, message: `message ${n}` } } as const;
      world.request(call, () => world.commits >= earliest && world.find(taskId) !== null);
    }
    await world.run();
    for (let tries = 0; tries < program.retries; tries++) {
      const last = taskIds.at(-1) ?? '';
      if (world.task(last).status !== 'failed') break;
      taskIds.push(world.retry(last));
      await world.run();
    }
    return check(world, taskIds);
  });
}

/** Complaints where a task has not gone the way that its journal says, in the end. */
export async function sameAsPredicted(world: World, taskId: string, strict: boolean): Promise<string[]> {
  const task = world.task(taskId);
  const last = world.runs.of(taskId).at(-1);
  if (!isTerminal(task.status) || last === undefined) return [];
  if (last.cuts !== world.history.cutsOf(taskId).length) return [];
  const { input, seed, originAt, attempt, emits, status, output, error } = task;
  const rows = world.history.journal.resolved(taskId);
  const seen = await predict(interpreter, { input, seed, originAt, attempt, rows, emits });
  const [given, predicted] = [deliveriesOf(last), deliveriesOf(seen)];
  // Where something else is awaited, the code may have been slower to come to its end, and have been given more by then.
  const count = strict ? Math.max(predicted.length, given.length) : predicted.length;
  const complaints = differ(predicted, given, count, 'the code, by its journal,');
  if (strict) {
    // What nobody awaits may be called a moment before the code has ended or a moment behind it.
    const [calls, expected] = [callsOf(last), callsOf(seen)];
    complaints.push(
      ...differ(expected, calls, Math.max(expected.length, calls.length), 'what it calls, by its journal,'),
    );
  }
  const end = seen.trace.find((entry) => entry.at === 'end');
  if (end === undefined) return [...complaints, 'by its journal it has no end'];
  if (end.ok !== (status === 'completed')) complaints.push(`by its journal it ends with ${end.value}, not ${status}`);
  else if (end.ok && end.value !== JSON.stringify(output)) complaints.push(`its output is ${JSON.stringify(output)}`);
  else if (!end.ok && !end.value.includes(error?.message ?? '')) complaints.push(`its error is ${error?.message}`);
  if (strict && status === 'completed') complaints.push(...sameKeys(world, taskId, seen.trace));
  return complaints;
}

/** The journal has a row for each key that was asked for, and no other. */
function sameKeys(world: World, taskId: string, trace: readonly TraceEntry[]): string[] {
  const asked = callsOf({
    trace: trace.slice(
      0,
      trace.findIndex(({ at }) => at === 'end'),
    ),
  })
    .filter((call) => !/^(emit|progress) /.test(call))
    .map((call) => call.slice(call.indexOf(' ') + 1));
  const stored = world.history.journal.rows(taskId).filter(({ kind }) => kind !== 'child');
  const keys = new Set(stored.map(({ key }) => key));
  const missing = asked.filter((key) => !keys.has(key));
  return missing.length === 0 ? [] : [`the journal lacks ${missing.join()}`];
}
