import { HoldfastError } from '../model/error.ts';
import type { Metrics } from './metrics.ts';
import { type Operation, sendJson } from './operation.ts';

/** `overloaded` while not all workers are up or new work is refused, `draining` when the server stops. */
export type Readiness = 'ready' | 'overloaded' | 'draining';

/** What operators and their machines ask. Query strings mean nothing here. @see docs/protocol.md §10 */
export function healthOperations(readiness: () => Readiness, { registry }: Metrics): Operation[] {
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
      errors: ['overloaded', 'draining'],
      handle(c) {
        const now = readiness();
        if (now === 'draining') throw new HoldfastError('draining', 'The server is stopping.');
        if (now === 'overloaded')
          throw new HoldfastError('overloaded', 'A worker is being replaced, or there is too much to do.');
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
