import { describe, expect, test } from 'vitest';
import { openLimits } from '../support/open-limits.ts';
import { createAppDouble, post, send } from './app-double.ts';

/** @see docs/protocol.md §9 */
describe('An owner who may send two requests a minute', () => {
  test('is told with every answer how many are left, the refused and the wrong ones included', async () => {
    const { app } = createAppDouble([], openLimits({ rateLimit: 2 }));

    const answers = [await send(app, '/v1/tasks'), await send(app, '/v1/tasks/unknown'), await send(app, '/v1/tasks')];

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 429]);
    expect(answers.map(({ headers }) => headers.get('RateLimit-Policy'))).toEqual(Array(3).fill('"owner";q=2;w=60'));
    const left = answers.map(({ headers }) => /^"owner";r=(\d+);t=(\d+)$/.exec(headers.get('RateLimit') ?? '') ?? []);
    expect(left.map(([, remaining]) => remaining)).toEqual(['1', '0', '0']);
    for (const [, , seconds] of left) expect(Number(seconds)).toBeGreaterThan(55);
  });

  test('is refused the third with 429, and told when the minute is over', async () => {
    const { app } = createAppDouble([], openLimits({ rateLimit: 2 }));
    await send(app, '/v1/tasks');
    await send(app, '/v1/tasks');

    const refused = await send(app, '/v1/tasks');

    const retryAfter = Number(refused.headers.get('Retry-After'));
    expect(retryAfter).toBeGreaterThan(55);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(await refused.json()).toMatchObject({ code: 'rate_limited', status: 429, retryAfter });
  });

  // Would fail if a request were counted behind its work: its key would be used up, and its task made.
  test('has changed nothing by a request that was refused, whose key is as new', async () => {
    const { app, asked } = createAppDouble([], openLimits({ rateLimit: 1 }));
    await send(app, '/v1/tasks');

    const refused = await post(app, '/v1/tasks', { agent: 'echo' }, { 'Idempotency-Key': 'one' });

    expect(refused.status).toBe(429);
    expect(asked.created).toEqual([]);
    expect(asked.keys).toEqual([]);
  });

  test.each(['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs'])('may still ask for %s', async (path) => {
    const { app } = createAppDouble([], openLimits({ rateLimit: 1 }));
    await send(app, '/v1/tasks');
    await send(app, '/v1/tasks');

    const answer = await send(app, path);

    expect(answer.status).toBe(200);
    expect(answer.headers.get('RateLimit')).toBeNull();
  });
});

test('Without authentication requests are not counted unless that is asked for, and with it they are', async () => {
  const { app } = createAppDouble();

  expect((await send(app, '/v1/tasks')).headers.get('RateLimit')).toBeNull();
  const counted = createAppDouble([], openLimits({ auth: 'token' }));
  expect((await send(counted.app, '/v1/tasks')).headers.get('RateLimit-Policy')).toBe('"owner";q=6000;w=60');
});
