import type { Backlog } from '../../src/engine/backlog.ts';
import { createLimits, type LimitOptions } from '../../src/http/limits.ts';
import { createMetrics, type Metrics } from '../../src/http/metrics.ts';

const NOTHING_WAITS: Backlog = { count: 0, oldestMs: () => 0 };

/** The limits of an app without a server. Nothing is too much for it unless the options say so. */
export function openLimits(options: Partial<LimitOptions> = {}, metrics: Metrics = createMetrics()) {
  return { ...createLimits({ auth: 'none', ...options }, NOTHING_WAITS, metrics), metrics, refuseEarly: () => false };
}
