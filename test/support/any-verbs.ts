import type { VerbCall } from '../../src/model/batch.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { taskError } from '../../src/model/task-error.ts';
import type { Dice } from './dice.ts';
import { createArgs, newId } from './store-owner.ts';

export interface AnyVerbsOptions {
  dice: Dice;
  /** As `Store.node`. */
  node: string;
  /** As `Store.now`. */
  now(): number;
  /** How long a delayed task is to wait, in ms; sleeps and short deadlines take half of it. */
  delayMs: number;
}

/** Verbs about tasks, as they come to the dice. */
export interface AnyVerbs {
  /** What may or may not be possible just now. @param tasks of the owner */
  among(tasks: readonly TaskRecord[]): VerbCall[];
  create(): VerbCall;
}

/** Of which tasks each verb mostly is asked. */
const APT = {
  createTask: () => true,
  claimTask: ({ status }) => status === 'queued',
  finishTask: ({ status }) => status === 'running',
  failTask: ({ status }) => status === 'running',
  cancelTask: ({ finishedAt }) => finishedAt === null,
  releaseTask: ({ held, status }) => held && status !== 'running',
  requeueTask: ({ status }) => status === 'running',
  readyTask: ({ runAt }) => runAt !== null,
  spawnTask: ({ status }) => status === 'running',
  startTimer: ({ status }) => status === 'running',
  waitTask: ({ status }) => status === 'running',
  fireTimer: ({ status }) => status === 'waiting',
} satisfies { [verb: string]: (task: TaskRecord) => boolean };
type Verb = keyof typeof APT;

export const ANY_VERBS = Object.keys(APT) as Verb[];

export function createAnyVerbs({ dice, node, now, delayMs }: AnyVerbsOptions): AnyVerbs {
  /** The newest of each task's sleeps. */
  const naps = new Map<string, string>();
  const napOf = (taskId: string) => naps.get(taskId) ?? 'none';

  function create(): VerbCall {
    const args = createArgs({
      concurrencyKey: dice.pick([null, 'a', 'a', 'b']),
      priority: dice.below(3),
      runAt: dice.pick([null, null, now() + delayMs]),
      maxAttempts: 1 + dice.below(3),
      timeoutMs: dice.pick([delayMs / 2, 60_000]),
    });
    return { verb: 'createTask', args };
  }

  function callOf({ id: taskId, fence, ord, deadlineAt }: TaskRecord, verb: Verb): VerbCall {
    const lease = { taskId, fence };
    switch (verb) {
      case 'createTask':
        return create();
      case 'claimTask':
        return { verb, args: { taskId, version: '1', warm: false, node } };
      case 'finishTask':
        return { verb, args: { ...lease, output: null } };
      case 'failTask': {
        const when = deadlineAt !== null && now() >= deadlineAt ? 'deadline' : 'now';
        const error = taskError('agent_error', 'No way.');
        return { verb, args: { ...lease, error, cut: null, when, jitter: dice.below(2) } };
      }
      case 'cancelTask':
        return { verb, args: { taskId, reason: null } };
      case 'releaseTask':
        return { verb, args: lease };
      case 'requeueTask': {
        const cause = dice.pick(['crashed', 'crashed', 'worker_lost', 'drained', 'parked'] as const);
        return { verb, args: { ...lease, cause } };
      }
      case 'readyTask':
        return { verb, args: { taskId } };
      case 'spawnTask': {
        const child = { childId: newId('task'), agent: 'planner', input: null };
        return { verb, args: { ...lease, key: newId('task'), askedAt: 0, ...child } };
      }
      case 'startTimer':
        naps.set(taskId, newId('task'));
        return { verb, args: { ...lease, key: napOf(taskId), askedAt: 0, ms: delayMs / 2 } };
      case 'waitTask':
        return { verb, args: { ...lease, ord, keys: [napOf(taskId)] } };
      case 'fireTimer':
        return { verb, args: { taskId, key: napOf(taskId) } };
    }
  }

  return {
    create,
    among(tasks) {
      const verb = dice.pick(dice.below(3) === 0 ? (['claimTask'] as const) : ANY_VERBS);
      const apt = tasks.filter(dice.below(10) > 0 ? APT[verb] : () => true);
      const task = apt.length === 0 ? null : dice.pick(apt);
      if (task === null) return [create()];
      // Hardly any task would happen to sleep when it is to wait.
      return (verb === 'waitTask' ? (['startTimer', verb] as const) : [verb]).map((each) => callOf(task, each));
    },
  };
}
