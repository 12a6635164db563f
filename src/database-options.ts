import { option } from './config-option.ts';
import { oneOf, postgresUrl, wholeNumber } from './option-values.ts';

/**
 * How far a commit must have come before it is acknowledged, as PostgreSQL calls it. Its `off` is none of them: what was
 * acknowledged would not be on any disk.
 */
const SYNCHRONOUS_COMMITS = ['on', 'remote_write', 'remote_apply', 'local'] as const;

/** One to write, one to read, one to keep the lease; and who comes in. */
const MIN_POOL = 4;
const MAX_POOL = 1000;
const MIN_LEASE_MS = 1000;
/** Ten minutes: for so long the tasks of a node that has died would stand still. */
const MAX_LEASE_MS = 600_000;

/** Where several servers keep everything together, in place of a directory of one. */
export const DATABASE_OPTIONS = {
  /** Null: in the directory. */
  database: option({
    flag: '--database',
    env: 'HOLDFAST_DATABASE',
    value: 'url',
    default: 'none',
    description:
      'A PostgreSQL that several servers share, in place of the directory: `postgres://user:password@host/name`.',
    parse: ([text]) => (text === undefined ? null : postgresUrl(text)),
  }),
  /** Null: the same. */
  databaseListen: option({
    flag: '--database-listen',
    env: 'HOLDFAST_DATABASE_LISTEN',
    value: 'url',
    default: 'that of `--database`',
    description: 'The same database past PgBouncer, to hear by `LISTEN` what other servers have written.',
    parse: ([text]) => (text === undefined ? null : postgresUrl(text)),
  }),
  databasePool: option({
    flag: '--database-pool',
    env: 'HOLDFAST_DATABASE_POOL',
    value: 'n',
    default: '10',
    description: 'How many connections to it are open at most, at least 4, beside the one that listens.',
    parse: ([text = '10']) => wholeNumber(text, MIN_POOL, MAX_POOL),
  }),
  synchronousCommit: option({
    flag: '--synchronous-commit',
    env: 'HOLDFAST_SYNCHRONOUS_COMMIT',
    value: 'how',
    default: 'on',
    description: `How far a commit has come when it is acknowledged, as PostgreSQL has it: \`${SYNCHRONOUS_COMMITS.join('`, `')}\`.`,
    parse: ([text = 'on']) => synchronousCommit(text),
  }),
  leaseMs: option({
    flag: '--lease-ms',
    env: 'HOLDFAST_LEASE_MS',
    value: 'ms',
    default: '30000',
    description: 'After how long without a word a server counts as dead, and others run its tasks.',
    parse: ([text = '30000']) => wholeNumber(text, MIN_LEASE_MS, MAX_LEASE_MS),
  }),
};

/** How far a commit must have come before it is acknowledged. */
export type SynchronousCommit = (typeof SYNCHRONOUS_COMMITS)[number];

function synchronousCommit(text: string): SynchronousCommit {
  if (text === 'off') throw new Error('"off" would acknowledge what a power cut takes back.');
  return oneOf(text, SYNCHRONOUS_COMMITS);
}
