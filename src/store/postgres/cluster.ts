import type { KeyResolution, RowKind } from '../../model/journal.ts';
import type { Cluster, CopyState } from '../cluster.ts';
import { useAgain } from './ask.ts';
import { NOW_MS } from './database-clock.ts';
import { fromText, toText } from './escape.ts';
import { asStoreError } from './failure.ts';
import type { Links } from './links.ts';
import type { Nodes } from './nodes.ts';
import { statement } from './statement.ts';

const DUTY_MS = 10_000;

/** Of several who ask at once the row's lock lets one be first. */
const TAKE_DUTY = statement(
  `insert into holdfast.duty as held (name, node, until)
    select $1, node.id, ${NOW_MS} + ${DUTY_MS} from holdfast.node where node.id = $2 and dead_at is null
    on conflict (name) do update set node = excluded.node, until = excluded.until
      where held.node = excluded.node or held.until < ${NOW_MS}
        or not exists (select 1 from holdfast.node where node.id = held.node and dead_at is null)`,
);
const HEADS = statement<{ owner: string; head: number }>(
  'select owner, head from holdfast.log where owner = any($1::text[])',
);

interface CopyRow extends Omit<CopyState, 'resolutions'> {
  /** What follows is null where nothing came to anything. */
  place: number | null;
  key: string;
  kind: RowKind;
  outcome: KeyResolution['status'];
  value: string | null;
  emitsDone: number;
  at: number;
}
/** One statement, so that a task and its journal are of one instant. Each is looked up: they are few of many. */
const COPIES = statement<CopyRow>(
  `select task.id as "taskId", task.fence, task.status, task.ord, row.ord as place, row.key, row.kind, row.status as outcome,
      row.value, row.emits_done as "emitsDone", row.at
    from unnest($2::text[], $3::bigint[]) as known (id, ord)
      cross join lateral (
        select key, id, fence, status, ord from holdfast.task
          where log = (select id from holdfast.log where owner = $1) and task.id = known.id limit 1
      ) as task
      left join lateral (
        select * from holdfast.journal where journal.task = task.key and ord is not null and journal.ord > known.ord
          and status <> 'pending' order by ord offset 0
      ) as row on true
    order by task.key, row.ord`,
);

/** What several processes on one database need. @param links of their own: a lease waits for nothing else */
export function createCluster(links: Links, nodes: Nodes): Cluster {
  return {
    leaseMs: nodes.leaseMs,
    renew: () => told(nodes.renew()),
    buryDead: () => told(nodes.buryDead()),
    async takeDuty(duty) {
      const { count } = await told(useAgain(links, (link) => link.ask(TAKE_DUTY, duty, nodes.id)));
      return count > 0;
    },
    async heads(owners) {
      const rows = await told(useAgain(links, (link) => link.ask(HEADS, owners.map(toText))));
      return new Map(rows.map(({ owner, head }) => [fromText(owner), head]));
    },
    async copies(owner, known) {
      const ids = known.map(({ taskId }) => toText(taskId));
      const ords = known.map(({ ord }) => ord);
      const rows = await told(useAgain(links, (link) => link.ask(COPIES, toText(owner), ids, ords)));
      const copies = new Map<string, CopyState>();
      for (const { taskId, fence, status, ord, ...resolved } of rows) {
        const copy = copies.get(taskId) ?? { taskId, fence, status, ord, resolutions: [] };
        copies.set(taskId, copy);
        if (resolved.place !== null) copy.resolutions.push(toResolution(taskId, { ...resolved, ord: resolved.place }));
      }
      return [...copies.values()];
    },
  };
}

async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw asStoreError(error);
  }
}

function toResolution(
  taskId: string,
  { key, kind, outcome, value, ord, emitsDone, at }: Omit<CopyRow, keyof CopyState> & { ord: number },
): KeyResolution {
  return { taskId, key: fromText(key), status: outcome, value: kind === 'step' ? null : value, ord, emitsDone, at };
}
