import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What `GET /metrics` shows. One a process: the default metrics hold timers and observers. */
export interface Metrics {
  registry: Registry;
  requests: Counter<'route' | 'method' | 'status'>;
  /** Seconds, of requests that neither stream nor wait. */
  duration: Histogram<'route' | 'method'>;
  streamsOpen: Gauge;
}

const BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      name: 'holdfast_http_requests_total',
      help: 'Requests by route pattern, method and status.',
      labelNames: ['route', 'method', 'status'],
      registers: [registry],
    }),
    duration: new Histogram({
      name: 'holdfast_http_request_duration_seconds',
      help: 'How long requests took, without streams and waits.',
      labelNames: ['route', 'method'],
      buckets: BUCKETS_SECONDS,
      registers: [registry],
    }),
    streamsOpen: new Gauge({
      name: 'holdfast_streams_open',
      help: 'Event streams that are open.',
      registers: [registry],
    }),
  };
}
