import { HoldfastError } from '../model/error.ts';
import type { Metrics } from './metrics.ts';
import { type Operation, sendJson } from './operation.ts';

/**
 * `overloaded` while not all workers are up or new work is refused, `storage_unavailable` while the database cannot be
 * reached, `draining` when the server stops.
 */
export type Readiness = 'ready' | keyof typeof NOT_READY;

const NOT_READY = {
  draining: 'The server is stopping.',
  overloaded: 'A worker is being replaced, or there is too much to do.',
  storage_unavailable: 'The database cannot be reached.',
};

/** What operators and their machines ask. Query strings mean nothing here. @see docs/protocol.md §10 */
export function healthOperations(readiness: () => Promise<Readiness>, { registry }: Metrics): Operation[] {
  return [
    {
      id: 'health',
      method: 'get',
      path: '/healthz',
      access: 'anyone',
      summary: 'Tells that the process lives',
      answers: { 200: { description: 'It does.', schema: { type: 'object' } } },
      errors: [],
      handle: (c) => sendJson(c, { status: 'ok' }),
    },
    {
      id: 'readiness',
      method: 'get',
      path: '/readyz',
      access: 'anyone',
      summary: 'Tells whether the server can serve',
      answers: { 200: { description: 'It can.', schema: { type: 'object' } } },
      errors: ['overloaded', 'draining', 'storage_unavailable'],
      async handle(c) {
        const now = await readiness();
        if (now !== 'ready') throw new HoldfastError(now, NOT_READY[now]);
        return sendJson(c, { status: 'ready' });
      },
    },
    {
      id: 'metrics',
      method: 'get',
      path: '/metrics',
      access: 'admin',
      summary: 'Metrics in the text format of Prometheus',
      answers: { 200: { description: 'All metrics.', type: 'text/plain' } },
      errors: [],
      handle: async (c) => c.body(await registry.metrics(), 200, { 'Content-Type': registry.contentType }),
    },
  ];
}
