import type { Logger } from 'pino';
import type { JwtOptions } from './access/jwt.ts';
import type { AccessMode } from './model/access.ts';

/** How a server serves, wherever it keeps its data. */
export interface ServingOptions {
  /** `file:` URLs of the modules that export agents. */
  agents: URL | URL[];
  /**
   * Variables of the environment that agents get, beside `PATH` and a few more that all of them get: names, or beginnings
   * of names followed by `*`. Default: none.
   */
  agentEnv?: readonly string[];
  /**
   * How people show who they are. By default they need not: everything is of one owner, and the server listens on the
   * machine itself alone. `token`: API tokens, which `holdfast tokens` makes. `jwt`: those, and what `jwt` describes.
   */
  auth?: AccessMode;
  /** With the `auth` that is `jwt`. */
  jwt?: JwtOptions | undefined;
  /** What the server is called beside `localhost` and the like, without ports. */
  allowHosts?: readonly string[];
  /** Whose pages may ask, beside its own: `https://app.example.com`. */
  allowOrigins?: readonly string[];
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 4747; 0 takes a free one. */
  port?: number;
  /** Threads that run agents, at least 2. Default: one for each core. */
  workers?: number;
  /** How long the code of a waiting task is kept in memory. Default 10,000; 0 keeps none. */
  warmMs?: number;
  /** How much memory each thread that runs agents may hold, heap and Buffers together, in MiB: 64 to 1024, default 512. */
  workerMemoryMb?: number;
  /** How long the events of ended tasks are kept; null keeps them for ever, which is the default. */
  retentionMs?: number | null;
  /**
   * How many unfinished tasks an owner may have, children not counted: further ones are refused. And how many questions may
   * be pending. Default 10,000.
   */
  maxUnfinishedPerOwner?: number;
  /** How many tasks of one owner may run at once. Default, also for null: as many as there are slots, 128 a worker. */
  maxRunningPerOwner?: number | null;
  /** How many streams and waiting requests may be open at a time. Default 10,000. */
  maxStreams?: number;
  /** The same for one owner. Default, also for null: 1,000 with authentication, any number without. */
  maxStreamsPerOwner?: number | null;
  /** Requests of an owner in a minute; 0 for any number. Default, also for null: 6,000 with authentication, 0 without. */
  rateLimit?: number | null;
  logger?: Logger;
}
