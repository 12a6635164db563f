import { HoldfastError } from '../model/error.ts';
import type { Metrics } from './metrics.ts';
import { type Operation, sendJson } from './operation.ts';

/** What operators and their machines ask. Query strings mean nothing here. @see docs/protocol.md §10 */
export function healthOperations(readiness: () => boolean, { registry }: Metrics): Operation[] {
  return [
    {
      id: 'health',
      method: 'get',
      path: '/healthz',
      summary: 'Tells that the process lives',
      answers: { 200: { description: 'It does.', schema: { type: 'object' } } },
      errors: [],
      handle: (c) => sendJson(c, { status: 'ok' }),
    },
    {
      id: 'readiness',
      method: 'get',
      path: '/readyz',
      summary: 'Tells whether the server can serve',
      answers: { 200: { description: 'It can.', schema: { type: 'object' } } },
      errors: ['overloaded'],
      handle(c) {
        if (!readiness()) throw new HoldfastError('overloaded', 'The server starts, stops or has lost what it needs.');
        return sendJson(c, { status: 'ready' });
      },
    },
    {
      id: 'metrics',
      method: 'get',
      path: '/metrics',
      summary: 'Metrics in the text format of Prometheus',
      answers: { 200: { description: 'All metrics.', type: 'text/plain' } },
      errors: [],
      handle: async (c) => c.body(await registry.metrics(), 200, { 'Content-Type': registry.contentType }),
    },
  ];
}
