import type { Outbox } from './outbox.ts';

export interface CopyOptions {
  outbox: Outbox;
  /** How long a copy that is replayed may make no headway before its code is taken for another. */
  stuckAfterMs: number;
  /** Called once nothing can be expected of the copy any more. */
  onGone(): void;
  /** Called once after a `drop`, when no code of the copy runs any more. */
  onReleased(): void;
}
