import type { VerbCall } from '../model/batch.ts';
import type { StoreReads } from '../store/store.ts';

/**
 * The task that a call may wake: the one that asked or sleeps, or the parent of one that it may end. Null for a call that
 * wakes none. What it says of children holds for those whose copies are here, and for those that people cancel.
 *
 * @param parentOf the parent of a task whose copy is here
 */
export function wokenBy(
  owner: string,
  call: VerbCall,
  store: Pick<StoreReads, 'question' | 'task'>,
  parentOf: (taskId: string) => string | null,
): string | null {
  switch (call.verb) {
    case 'answerQuestion':
    case 'declineQuestion':
    case 'expireQuestion':
      return store.question(owner, call.args.questionId)?.taskId ?? null;
    case 'fireTimer':
    case 'wakeTask':
      return call.args.taskId;
    case 'finishTask':
    case 'failTask':
      return parentOf(call.args.taskId);
    case 'cancelTask':
      return store.task(owner, call.args.taskId)?.parentId ?? null;
    default:
      return null;
  }
}
