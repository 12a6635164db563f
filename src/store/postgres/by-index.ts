/**
 * How statements are planned. Each of them knows its index, a hash over all owners is never the quickest way to one, and a
 * table that has just grown out of nothing is still thought to be small by the server. One plan for whatever the parameters
 * are spares planning, which takes longer than the reading.
 */
export const BY_INDEX: Readonly<Record<string, string>> = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};
