import type { Backlog } from '../engine/backlog.ts';
import type { AccessMode } from '../model/access.ts';
import type { RequestCounts } from '../store/access.ts';
import { createHeldOpen, type HeldOpen } from './held-open.ts';
import type { Metrics } from './metrics.ts';
import { createRequestLimit, type RequestLimit } from './request-limit.ts';
import { createShedding, type Shedding } from './shedding.ts';

/** What the server takes on at a time, in all and of one owner. @see docs/limits.md */
export interface Limits {
  shedding: Shedding;
  held: HeldOpen;
  requests: RequestLimit;
  /** So many connections at a time. */
  maxConnections: number;
}

export interface LimitOptions {
  auth: AccessMode;
  /** Streams and requests that wait, of the process. */
  maxStreams?: number | undefined;
  /** The same of an owner; null for the default. */
  maxStreamsPerOwner?: number | null | undefined;
  /** Requests that an owner may send in a minute; 0 for any number, null for the default. */
  rateLimit?: number | null | undefined;
  /** Where several servers count requests together; null, the default, where this one counts alone. */
  counts?: RequestCounts | null;
}

const DEFAULT_STREAMS = 10_000;
/** A server that streams on for its users, all of them under its own name, holds many. */
const DEFAULT_STREAMS_PER_OWNER = 1000;
/** A hundred a second: far beyond what people do, and no more than a small part of what the server can. */
const DEFAULT_PER_MINUTE = 6000;
/** For those who ask and go, however many stay. */
const SPARE_CONNECTIONS = 2000;

/** Where there is no authentication there is one owner, who may have everything. */
export function createLimits(options: LimitOptions, backlog: Backlog, { overload }: Metrics): Limits {
  const { auth, maxStreams = DEFAULT_STREAMS, maxStreamsPerOwner = null, rateLimit = null, counts } = options;
  const maxPerOwner = maxStreamsPerOwner ?? (auth === 'none' ? null : DEFAULT_STREAMS_PER_OWNER);
  const perMinute = rateLimit ?? (auth === 'none' ? 0 : DEFAULT_PER_MINUTE);
  return {
    shedding: createShedding(backlog, overload),
    held: createHeldOpen({ max: maxStreams, maxPerOwner, refused: overload.refused }),
    requests: createRequestLimit(perMinute, overload, counts),
    maxConnections: maxStreams + SPARE_CONNECTIONS,
  };
}
