import type { TaskStatus } from '../../client/index.ts';
import { STATUS_WORDS } from '../words/task-status.ts';
import { StatusDot } from './status-dot.tsx';

export function StatusBadge({ status }: { status: TaskStatus }) {
  return (
    <span class={`status-badge status-${status}`}>
      <StatusDot status={status} />
      {STATUS_WORDS[status]}
    </span>
  );
}
