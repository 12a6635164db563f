import type { LogEvent, StreamItem } from '../client/index.ts';

/** Tells events of the log, whose types have a dot in them, from the stream's own signals. */
export function isLogEvent(item: StreamItem): item is LogEvent {
  return item.type.includes('.');
}
