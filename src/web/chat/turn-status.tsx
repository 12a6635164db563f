import type { TurnView } from '../../client/index.ts';
import { Progress } from '../ui/progress.tsx';
import { StatusDot } from '../ui/status-dot.tsx';
import { turnWords } from './turn-words.ts';

/** What the unfinished turns of a conversation are doing, oldest first. */
export function TurnStatus({ unfinished }: { unfinished: readonly TurnView[] }) {
  const turns = unfinished.filter(({ taskId, rootId }) => taskId === rootId);
  return (
    <div class="turn-status">
      {turns.map((turn) => (
        <div key={turn.taskId} class="turn-status-row">
          <StatusDot status={turn.status} />
          <a href={`#/tasks/${turn.taskId}`} class="turn-status-words">
            <bdi>{turnWords(turn)}</bdi>
          </a>
          {turn.status === 'running' && turn.progress !== null && <Progress fraction={turn.progress.fraction} />}
        </div>
      ))}
    </div>
  );
}
