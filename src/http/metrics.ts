import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** What `GET /metrics` shows. One a process: the default metrics hold timers and observers. */
export interface Metrics {
  registry: Registry;
  requests: Counter<'route' | 'method' | 'status'>;
  /** Seconds, of requests that neither stream nor wait. */
  duration: Histogram<'route' | 'method'>;
  streamsOpen: Gauge;
  overload: {
    /** What was refused for being too much. */
    refused: Counter<'reason'>;
    /** 1 while new work is refused, else 0. */
    overloaded: Gauge;
    /** Seconds. */
    loopDelay: Gauge;
    newWork: Gauge;
    commits: Gauge;
    connections: Gauge;
    /** Closed to make room, or not taken. */
    dropped: Counter;
  };
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
    overload: overloadMetrics([registry]),
  };
}

function overloadMetrics(registers: Registry[]): Metrics['overload'] {
  const gauge = (name: string, help: string) => new Gauge({ name: `holdfast_${name}`, help, registers });
  return {
    refused: new Counter({
      name: 'holdfast_refused_total',
      help: 'Refusals of what was too much: overloaded (new work), stream, wait, rate_limited.',
      labelNames: ['reason'],
      registers,
    }),
    overloaded: gauge('overloaded', '1 while new work is refused.'),
    loopDelay: gauge('event_loop_delay_seconds', 'How late the event loop was on average in the last half second.'),
    newWork: gauge('new_work_under_way', 'Requests for new work that are not on disk yet.'),
    commits: gauge('commits_under_way', 'Commits that the writer has not answered yet.'),
    connections: gauge('connections_open', 'Connections that are open.'),
    dropped: new Counter({
      name: 'holdfast_connections_dropped_total',
      help: 'Connections that were not taken, or closed to make room, because there were too many.',
      registers,
    }),
  };
}
