import type { VerbCall } from '../model/batch.ts';
import type { StoreReads } from '../store/store.ts';

type Reads = Pick<StoreReads, 'question' | 'task'>;

/**
 * The tasks that calls may wake: those that asked or sleep, and the parents of those that they may end. What it says of
 * children holds for those whose copies are here, and for those that people cancel.
 *
 * @param parentOf the parent of a task whose copy is here
 * @returns a promise only where the store must be asked, which is where calls come from people and from deadlines: those of
 *   workers must not be overtaken
 */
export function wokenBy(
  owner: string,
  calls: readonly VerbCall[],
  reads: Reads,
  parentOf: (taskId: string) => string | null,
): string[] | Promise<string[]> {
  const known = calls.flatMap((call) => wokenHere(call, parentOf) ?? []);
  const asked = calls.flatMap((call) => ask(owner, call, reads) ?? []);
  if (asked.length === 0) return known;
  return Promise.all(asked).then((found) => [...known, ...found.flatMap((taskId) => taskId ?? [])]);
}

function wokenHere(call: VerbCall, parentOf: (taskId: string) => string | null): string | null {
  switch (call.verb) {
    case 'fireTimer':
    case 'wakeTask':
      return call.args.taskId;
    case 'finishTask':
    case 'failTask':
      return parentOf(call.args.taskId);
    default:
      return null;
  }
}

/** Null for a call that is no question to the store. */
function ask(owner: string, call: VerbCall, reads: Reads): Promise<string | null> | null {
  switch (call.verb) {
    case 'answerQuestion':
    case 'declineQuestion':
    case 'expireQuestion':
      return reads.question(owner, call.args.questionId).then((question) => question?.taskId ?? null);
    case 'cancelTask':
      return reads.task(owner, call.args.taskId).then((task) => task?.parentId ?? null);
    default:
      return null;
  }
}
