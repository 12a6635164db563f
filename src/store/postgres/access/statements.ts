import { getTableColumns } from 'drizzle-orm';
import type { GrantRecord, TokenRecord } from '../../access.ts';
import { selectColumns } from '../columns.ts';
import { NOW_MS } from '../database-clock.ts';
import { statement } from '../statement.ts';
import { accessGrant, token } from './schema.ts';

// Each is a transaction by itself, may be run twice, and waits for no other that waits: of rows that are locked for a moment
// those are passed over that need not be touched now.

/** Scopes as they are stored. */
type Stored<Record> = Omit<Record, 'scopes' | 'subject'> & { scopes: string };
export type TokenRow = Stored<TokenRecord> & { hash: string };
export type GrantRow = Stored<GrantRecord> & {
  taskId: string | null;
  conversationId: string | null;
  token: TokenRow | null;
};

const TOKEN = `select ${selectColumns(token, 'token')} from holdfast_access.token`;
const OLDEST_FIRST = 'order by created_at, id';
export const TOKEN_BY_HASH = statement<TokenRow>(`${TOKEN} where hash = $1`);
export const ALL_TOKENS = statement<TokenRow>(`${TOKEN} ${OLDEST_FIRST}`);
export const TOKENS = statement<TokenRow>(`${TOKEN} where id = any ($1::text[]) ${OLDEST_FIRST}`);

export const ADD_TOKEN = statement(
  `insert into holdfast_access.token (id, hash, owner, scopes, created_at, expires_at, last_used_at, revoked_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do nothing`,
);

export const REVOKE_TOKEN = statement<{ isThere: boolean }>(
  `with revoked as (
      update holdfast_access.token set revoked_at = $2 where id = $1 and revoked_at is null returning id
    ), counted as (
      update holdfast_access.endings set count = count + 1 where exists (select from revoked)
    )
    select exists (select from holdfast_access.token where id = $1) as "isThere"`,
);

export const TOUCH_TOKEN = statement(
  'update holdfast_access.token set last_used_at = $2 where id = $1 and coalesce(last_used_at, 0) < $2',
);

export const ADD_GRANT = statement(
  `insert into holdfast_access.access_grant (hash, kind, token_id, session_hash, owner, scopes, task_id, conversation_id,
      created_at, open_until, ends_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (hash) do nothing`,
);

export const GRANTS = statement<GrantRow>(
  `select ${selectColumns(accessGrant, 'access_grant')},
      case when token.id is not null then json_build_object(${tokenFields()}) end as token
    from holdfast_access.access_grant
    left join holdfast_access.token on token.id = access_grant.token_id
    where access_grant.hash = any ($1::text[])`,
);

export const REMOVE_GRANT = statement(
  `with ended as (delete from holdfast_access.access_grant where hash = $1 returning hash)
    update holdfast_access.endings set count = count + 1 where exists (select from ended)`,
);

export const EXTEND_GRANTS = statement(
  `update holdfast_access.access_grant set open_until = greatest(open_until, least(ends_at, $2::bigint))
    where hash in (
      select hash from holdfast_access.access_grant where hash = any ($1::text[]) for no key update skip locked
    )`,
);

export const REMOVE_CLOSED_GRANTS = statement(
  `delete from holdfast_access.access_grant where hash in (
      select hash from holdfast_access.access_grant where open_until < $1
      order by open_until limit $2 for update skip locked
    )`,
);

export const VERSION = statement<{ count: number; now: number }>(
  `select count, ${NOW_MS} as now from holdfast_access.endings`,
);

/** In the order of the owners, in which servers that count the same ones do not wait for each other crosswise. */
export const ADD_REQUESTS = statement<{ owner: string; count: number; leftMs: number }>(
  `insert into holdfast_access.request_window as kept (owner, count, ends_at)
    select owner, count, ${NOW_MS} + $3::bigint from unnest($1::text[], $2::bigint[]) as given(owner, count) order by owner
    on conflict (owner) do update set
      count = excluded.count + case when kept.ends_at > excluded.ends_at - $3::bigint then kept.count else 0 end,
      ends_at = case when kept.ends_at > excluded.ends_at - $3::bigint then kept.ends_at else excluded.ends_at end
    returning owner, count, ends_at - ${NOW_MS} as "leftMs"`,
);

export const REMOVE_OLD_WINDOWS = statement(
  `delete from holdfast_access.request_window where owner in (
      select owner from holdfast_access.request_window where ends_at < ${NOW_MS}
      order by ends_at limit $1 for update skip locked
    )`,
);

function tokenFields(): string {
  return Object.entries(getTableColumns(token))
    .map(([field, { name }]) => `'${field}', token.${name}`)
    .join(', ');
}
