import type { DropReason } from './protocol.ts';

/** What the signal of a dropped copy is aborted with. */
export const DROP_MESSAGES: Record<DropReason, string> = {
  lost: 'The task was lost to this worker.',
  cancelled: 'The task was cancelled.',
  timeout: 'The task has used up its time.',
  parked: 'The task waits, and goes on in another copy.',
};
