import type { Queries, Suspect } from '../store.ts';
import type { Ask } from './ask.ts';
import { fromText, toText } from './escape.ts';
import { CLAIMABLE, SUSPECT } from './offered.ts';
import { statement } from './statement.ts';

interface Candidate {
  owner: string;
  taskId: string;
  agent: string;
}

const ALL = candidates('');
const OF_AGENTS = candidates('and agent = any($3::text[])');
const SUSPECTS = statement<Suspect>(
  `select log.owner, task.id as "taskId", task.agent, crashes, alone_crashes as "aloneCrashes"
    from holdfast.task join holdfast.log on log.id = task.log where ${SUSPECT} order by priority desc, task.key limit $1`,
);

/**
 * The search for work, which takes no lock: what it finds may be gone when it is claimed. Owners take turns: whose last
 * claim is the longest ago comes first, so that none of them waits for another's queue to be empty.
 */
export function createClaimable(ask: Ask): Pick<Queries, 'claimable' | 'suspects'> {
  return {
    async claimable(limit, full = new Set(), agents = null) {
      const turns = [limit, [...full].map(toText)] as const;
      const found = agents === null ? ask(ALL, ...turns) : ask(OF_AGENTS, ...turns, agents.map(toText));
      return (await found).map(named);
    },
    suspects: async (limit) => (await ask(SUSPECTS, limit)).map(named),
  };
}

/**
 * The logs of the first owners in turn, each with the first of its queue; of all the first of each, then the second of each,
 * and so on. Where there are few owners more is read of each. An owner is looked at only as far as the first task that is
 * wanted: where nothing is, his turn stays as it is, and others come to it.
 */
function candidates(wanted: string) {
  const queue = `from holdfast.task where task.log = logs.id and ${CLAIMABLE} ${wanted}`;
  return statement<Candidate>(`with turns as materialized (
      select logs.id, logs.owner, logs.turn from holdfast.log as logs cross join lateral (select 1 ${queue} limit 1) as any_work
        where claimable > 0 and logs.owner <> all($2::text[]) order by logs.turn, logs.id limit $1
    )
    select logs.owner, next.id as "taskId", next.agent from turns as logs cross join lateral (
        select queued.*, row_number() over (order by priority desc, key) as round from (
          select id, agent, priority, key ${queue} order by priority desc, key
            limit $1 - (select count(*) from turns) + 1
        ) as queued
      ) as next
      order by next.round, logs.turn, logs.id limit $1`);
}

function named<T extends { owner: string; agent: string }>(found: T): T {
  return { ...found, owner: fromText(found.owner), agent: fromText(found.agent) };
}
