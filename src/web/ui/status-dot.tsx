import type { TaskStatus } from '../../client/index.ts';

/** An ornament beside words that say the same. */
export function StatusDot({ status }: { status: TaskStatus | 'idle' }) {
  return <span class={`dot dot-${status}`} aria-hidden="true" />;
}
