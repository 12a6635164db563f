import type { PostgresCluster } from '../../support/postgres-cluster.ts';
import type { Claim } from '../story.ts';

/**
 * Sees in the database itself, beside the server's code, who writes what under which fence. Each node comes as a user of its
 * own, so a session's user says which process it is of.
 */
const SEEN = `
create schema witness;
create table witness.claim (
  task bigint, fence int, id text not null, node name not null, at bigint not null, primary key (task, fence)
);
create table witness.fault (at timestamptz not null default clock_timestamp(), what text not null);

create function witness.see_task() returns trigger language plpgsql as $$
begin
  if new.fence = old.fence + 1 then
    insert into witness.claim
      values (new.key, new.fence, new.id, session_user, extract(epoch from clock_timestamp()) * 1000);
  else
    insert into witness.fault (what) values (format('%s goes from fence %s to %s', new.id, old.fence, new.fence));
  end if;
  return null;
end $$;
create trigger see_task after update on holdfast.task for each row
  when (new.fence is distinct from old.fence) execute function witness.see_task();

create function witness.see_event() returns trigger language plpgsql as $$
declare
  named text;
  under int;
  holder name;
begin
  select task.id, task.fence, claim.node into named, under, holder
    from holdfast.task left join witness.claim on claim.task = task.key and claim.fence = task.fence
    where task.key = new.task;
  if holder is distinct from session_user then
    insert into witness.fault (what) values (
      format('%s writes %s at %s of %s, which %s holds by fence %s', session_user, new.type, new.seq, named, holder, under)
    );
  end if;
  return null;
end $$;
-- At the commit, when everything that the transaction changes has been changed.
create constraint trigger see_event after insert on holdfast.event deferrable initially deferred for each row
  when (new.type ~ '^(chaos[.]|step[.](started|completed)$|message[.](started|delta)$|task[.](progress|waiting|completed)$|question[.]asked$)')
  execute function witness.see_event();
`;

/** What the witness has seen. */
export interface Testimony {
  /** Writes under a fence that another claim had replaced, and fences that did not count up, in words. */
  faults: string[];
  claims: Claim[];
  /** Tasks that more than one node has claimed in turn. */
  moved: number;
}

/** @param database one that has its tables, and that nobody uses yet */
export async function setUpWitness(cluster: PostgresCluster, database: string): Promise<void> {
  await cluster.sql(SEEN, database);
}

export async function askWitness(cluster: PostgresCluster, database: string): Promise<Testimony> {
  const faults = await cluster.sql('select what from witness.fault order by at', database);
  const claims = await cluster.sql('select id, at from witness.claim order by at', database);
  const [moved] = await cluster.sql(
    'select count(*) from (select from witness.claim group by task having count(distinct node) > 1) as of_several',
    database,
  );
  return { faults, claims: claims.map(toClaim), moved: Number(moved) };
}

function toClaim(line: string): Claim {
  const [taskId = '', at] = line.split('|');
  return { taskId, at: Number(at) };
}

/** Lets every NOTIFY from now on do nothing, and nobody know. */
export async function dropNotifications(cluster: PostgresCluster, database: string): Promise<void> {
  // What is built in is called by its number, so another must take its name.
  const other = `create function pg_catalog.pg_notify(text, text) returns void language sql as 'select'`;
  await cluster.sql(`alter function pg_catalog.pg_notify(text, text) rename to pg_notify_built_in; ${other}`, database);
}
