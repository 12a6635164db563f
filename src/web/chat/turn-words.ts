import type { TurnView } from '../../client/index.ts';

/** What a turn is doing, in a few words. */
export function turnWords({ status, attempt, progress, waitingFor, waitingUntil }: TurnView): string {
  switch (status) {
    case 'queued':
      return attempt === 0 ? 'Queued' : 'Starting again';
    case 'waiting':
      if (waitingFor.includes('people')) return 'Waiting for your answer';
      if (waitingFor.includes('timer') && waitingUntil !== null) {
        return `Waiting until ${new Date(waitingUntil).toLocaleTimeString([], { timeStyle: 'short' })}`;
      }
      return waitingFor.includes('children') ? 'Waiting for other tasks' : 'Waiting';
    default:
      return progress?.note ?? 'Working';
  }
}
