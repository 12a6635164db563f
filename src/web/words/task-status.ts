import type { Task } from '../../client/index.ts';

export const STATUS_WORDS: { [status in Task['status'] | 'unfinished']: string } = {
  unfinished: 'Unfinished',
  queued: 'Queued',
  running: 'Running',
  waiting: 'Waiting',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

/** Why a task was cancelled, for people; other reasons are somebody's own words. */
export function cancelReasonWords(reason: string | null): string {
  switch (reason) {
    case null:
      return 'Stopped';
    case 'interrupted':
      return 'Interrupted by a new message';
    case 'parent_finished':
      return 'Stopped, since the task that began it has ended';
    case 'parent_retried':
      return 'Stopped, since the task that began it starts again';
    case 'conversation_deleted':
      return 'Stopped, since its conversation was deleted';
    default:
      return `Stopped: ${reason}`;
  }
}
