import type { Links } from './links.ts';
import { statement } from './statement.ts';

/**
 * Ends transactions of other connections which hold an owner's log and have been in the middle of a message for so long
 * that the rest of it will never come: the way to their process stopped passing anything on. No time limit of PostgreSQL's
 * counts there, so that nobody could ever write for that owner again.
 */
const END_STUCK = statement(
  `select pg_terminate_backend(activity.pid) from pg_stat_activity activity
    where datname = current_database() and usename = current_user and application_name = 'holdfast'
      and state = 'active' and wait_event = 'ClientRead' and state_change < clock_timestamp() - interval '5 s'
      and exists (select 1 from pg_locks lock where lock.pid = activity.pid and lock.relation = 'holdfast.log'::regclass)`,
);

/** To be called when a lock was waited for in vain. What goes wrong with it is found at the next attempt. */
export async function endStuck(links: Links): Promise<void> {
  await links.use((link) => link.ask(END_STUCK)).catch(() => {});
}
