import type { StreamItem } from '../event.ts';

/**
 * A stretch of a log: everything after `from`, up to `to`, that a stream covers. Frames that follow each other leave
 * nothing out; where they do not, something is missing, which is to be read before going on.
 */
export interface Frame {
  /** Null where nothing came before: the stream began by itself. */
  from: string | null;
  to: string | null;
  items: StreamItem[];
  /** Nothing will follow, ever. */
  ended: boolean;
}
