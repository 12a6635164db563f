import type { Task } from '../../client/index.ts';
import { hrefOf } from '../route.ts';
import { memo } from '../ui/memo.tsx';
import { Progress } from '../ui/progress.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';
import { durationWords } from '../words/duration.ts';
import { jsonLine } from '../words/json-line.ts';

const MAX_INPUT = 160;

export const TaskRow = memo(({ task }: { task: Task }) => {
  const { id, agent, status, progress, createdAt, startedAt, finishedAt, error, pendingQuestionCount } = task;
  const took = startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
  return (
    <li class="task-row">
      <StatusBadge status={status} />
      <span class="task-main">
        <a class="task-link" href={hrefOf({ page: 'task', id })}>
          {agent}
        </a>
        <bdi class="task-input">{error === null ? inputLine(task) : error.message}</bdi>
      </span>
      {status === 'running' && progress !== null && <Progress fraction={progress.fraction} />}
      {pendingQuestionCount > 0 && <span class="badge">{pendingQuestionCount}</span>}
      <span class="task-took">{took === null ? '' : durationWords(took)}</span>
      <span class="task-time">
        <TimeAgo at={createdAt} />
      </span>
    </li>
  );
});

/** What a turn was given is what somebody wrote. */
function inputLine({ input, conversationId }: Task): string {
  const isTurn = conversationId !== null && typeof input === 'object' && input !== null && 'message' in input;
  return jsonLine(isTurn ? (input.message ?? null) : input, MAX_INPUT);
}
