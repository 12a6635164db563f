import { describe, expect, test } from 'vitest';
import { createAppDouble, jsonOf, post, send, TASK } from './app-double.ts';

const { app, asked } = createAppDouble();
const CANCEL = `/v1/tasks/${TASK.id}/cancel`;
const RETRY = `/v1/tasks/${TASK.id}/retry`;

const STARTED_AT = Date.now();

function inDays(days: number): string {
  return new Date(STARTED_AT + days * 86_400_000).toISOString();
}

async function errorsOf(response: Response): Promise<unknown> {
  return (await jsonOf<{ errors: unknown }>(response)).errors;
}

describe('the media type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json; v=1',
  ])('accepts %s', async (type) => {
    const response = await post(app, '/v1/tasks', { agent: 'echo' }, { 'Content-Type': type });

    expect(response.status).toBe(202);
  });

  test.each([
    'text/plain',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/x-www-form-urlencoded',
    'json',
  ])('refuses %s', async (type) => {
    const response = await post(app, '/v1/tasks', { agent: 'echo' }, { 'Content-Type': type });

    expect(response.status).toBe(415);
  });

  test.each(['{"agent":"echo"}', 'x'.repeat(300_000)])(
    'refuses a body without a type, whatever its size',
    async (text) => {
      const response = await send(app, '/v1/tasks', { method: 'POST', body: new TextEncoder().encode(text) });

      expect(response.status).toBe(415);
    },
  );

  test('refuses an encoded body', async () => {
    const response = await post(app, '/v1/tasks', { agent: 'echo' }, { 'Content-Encoding': 'gzip' });

    expect(response.status).toBe(415);
  });

  test('refuses text/plain even where the body may be left out', async () => {
    const response = await send(app, CANCEL, { method: 'POST', headers: { 'Content-Type': 'text/plain' } });

    expect(response.status).toBe(415);
  });
});

describe('the size', () => {
  const ofBytes = (bytes: number) => {
    const [head, tail] = ['{"agent":"echo","input":"', '"}'];
    return `${head}${'x'.repeat(bytes - head.length - tail.length)}${tail}`;
  };

  test('accepts 256 KiB', async () => {
    expect((await post(app, '/v1/tasks', ofBytes(256 * 1024))).status).toBe(202);
  });

  test('refuses a byte more', async () => {
    expect((await post(app, '/v1/tasks', ofBytes(256 * 1024 + 1))).status).toBe(413);
  });

  test('refuses a declared length without reading', async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '300000' };

    const response = await app.request(
      new Request('http://localhost/v1/tasks', { method: 'POST', body, headers, duplex: 'half' }),
    );

    expect(response.status).toBe(413);
    expect(pulled).toBe(0);
  });

  test('stops reading an endless body soon after the limit', async () => {
    let pulled = 0;
    const chunk = new Uint8Array(64 * 1024).fill(0x20);
    const body = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(chunk);
      },
    });
    const headers = { 'Content-Type': 'application/json' };

    const response = await app.request(
      new Request('http://localhost/v1/tasks', { method: 'POST', body, headers, duplex: 'half' }),
    );

    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(10);
  });

  test('tells a body that breaks off from a server error', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('ECONNRESET')) });
    const headers = { 'Content-Type': 'application/json' };

    const response = await app.request(
      new Request('http://localhost/v1/tasks', { method: 'POST', body, headers, duplex: 'half' }),
    );

    expect(response.status).toBe(400);
  });
});

describe('the form', () => {
  test.each(['', ' ', '{', '{"agent":"echo",}', "{'agent':'echo'}", 'undefined', '{"agent":"echo"} x', 'NaN'])(
    'refuses %j, which is not JSON',
    async (text) => {
      const response = await post(app, '/v1/tasks', text);

      expect(response.status).toBe(400);
      expect(await errorsOf(response)).toEqual([{ path: '', message: expect.any(String) }]);
    },
  );

  test('refuses bytes that are not UTF-8', async () => {
    const body = Buffer.from([...Buffer.from('{"agent":"echo","input":"'), 0xff, ...Buffer.from('"}')]);

    const response = await send(app, '/v1/tasks', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });

    expect(response.status).toBe(400);
  });

  test('takes 32 levels of nesting and refuses 33', async () => {
    const nested = (depth: number) => `{"agent":"echo","input":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

    expect((await post(app, '/v1/tasks', nested(32))).status).toBe(202);
    expect((await post(app, '/v1/tasks', nested(33))).status).toBe(400);
    expect((await post(app, '/v1/tasks', '['.repeat(200_000))).status).toBe(400);
    expect((await post(app, '/v1/tasks', '['.repeat(100_000) + ']'.repeat(100_000))).status).toBe(400);
  });

  test.each(['1e999', '[-1e999]', '{"a":{"b":1e400}}'])('refuses %s, which no number can hold', async (input) => {
    expect((await post(app, '/v1/tasks', `{"agent":"echo","input":${input}}`)).status).toBe(400);
  });

  test.each(['null', '[]', '"x"', '1', 'true'])('refuses %s in place of an object', async (text) => {
    expect((await post(app, '/v1/tasks', text)).status).toBe(400);
  });

  test('names each unknown field by its JSON Pointer', async () => {
    const response = await post(app, '/v1/tasks', { agent: 'echo', 'a/b~c': 1, inputs: 2 });

    expect(response.status).toBe(400);
    expect(await errorsOf(response)).toEqual([
      { path: '/a~1b~0c', message: expect.any(String) },
      { path: '/inputs', message: expect.any(String) },
    ]);
  });

  test.each([
    [{}, '/agent'],
    [{ agent: 'Echo' }, '/agent'],
    [{ agent: 7 }, '/agent'],
    [{ agent: 'echo', metadata: [] }, '/metadata'],
    [{ agent: 'echo', metadata: null }, '/metadata'],
    [{ agent: 'echo', metadata: { big: 'x'.repeat(16 * 1024) } }, '/metadata'],
    [{ agent: 'echo', timeoutMs: 0 }, '/timeoutMs'],
    [{ agent: 'echo', timeoutMs: 1.5 }, '/timeoutMs'],
    [{ agent: 'echo', timeoutMs: '1' }, '/timeoutMs'],
    [{ agent: 'echo', timeoutMs: 30 * 86_400_000 + 1 }, '/timeoutMs'],
    [{ agent: 'echo', maxAttempts: 0 }, '/maxAttempts'],
    [{ agent: 'echo', maxAttempts: 101 }, '/maxAttempts'],
    [{ agent: 'echo', maxAttempts: 1.5 }, '/maxAttempts'],
    [{ agent: 'echo', maxAttempts: null }, '/maxAttempts'],
    [{ agent: 'echo', runAt: 1_800_000_000_000 }, '/runAt'],
    [{ agent: 'echo', runAt: 'tomorrow' }, '/runAt'],
    [{ agent: 'echo', runAt: '2026-11-30' }, '/runAt'],
    [{ agent: 'echo', runAt: '2026-11-30T12:00:00' }, '/runAt'],
    [{ agent: 'echo', runAt: '2026-02-30T12:00:00Z' }, '/runAt'],
    [{ agent: 'echo', runAt: inDays(366) }, '/runAt'],
    [{ agent: 'echo', runAt: '9999-12-31T23:59:59Z' }, '/runAt'],
    [{ agent: 'echo', priority: 101 }, '/priority'],
    [{ agent: 'echo', priority: -101 }, '/priority'],
    [{ agent: 'echo', concurrencyKey: '' }, '/concurrencyKey'],
    [{ agent: 'echo', concurrencyKey: 'x'.repeat(256) }, '/concurrencyKey'],
    [{ agent: 'echo', concurrencyKey: 'a\0b' }, '/concurrencyKey'],
    [{ agent: 'echo', concurrencyKey: '\ud83d' }, '/concurrencyKey'],
  ])('refuses %j at %s', async (body, path) => {
    const response = await post(app, '/v1/tasks', body);

    expect(response.status).toBe(400);
    expect(await errorsOf(response)).toMatchObject([{ path }]);
  });

  test('bounds the number of errors that it lists', async () => {
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, index]));

    const response = await post(app, '/v1/tasks', { agent: 'echo', ...fields });

    expect(await errorsOf(response)).toHaveLength(20);
  });
});

describe('what is accepted', () => {
  test('fills in the defaults', async () => {
    await post(app, '/v1/tasks', { agent: 'echo' });

    expect(asked.created.at(-1)).toEqual({
      agent: 'echo',
      input: null,
      metadata: {},
      timeoutMs: 30 * 60_000,
      maxAttempts: 1,
      runAt: null,
      priority: 0,
      concurrencyKey: null,
      conversationId: null,
    });
  });

  test.each([
    ['2026-11-30T12:00:00Z', Date.UTC(2026, 10, 30, 12)],
    ['2026-11-30T12:00:00.123456+02:00', Date.UTC(2026, 10, 30, 10, 0, 0, 123)],
    ['1970-01-01T00:00:00.000Z', 0],
    [inDays(364), Date.parse(inDays(364))],
    [null, null],
  ])('takes %s for a runAt', async (runAt, at) => {
    const response = await post(app, '/v1/tasks', { agent: 'echo', runAt, maxAttempts: 100 });

    expect(response.status).toBe(202);
    expect(asked.created.at(-1)).toMatchObject({ runAt: at, maxAttempts: 100 });
  });

  test('keeps false, 0, "" and [] apart from what was left out', async () => {
    for (const input of [false, 0, '', []]) {
      await post(app, '/v1/tasks', { agent: 'echo', input, priority: 0 });

      expect(asked.created.at(-1)?.input).toEqual(input);
    }
  });

  test('hands on NUL, lone surrogates and a key named __proto__ as they were sent, and pollutes nothing', async () => {
    const sent = String.raw`{"nul":"a\u0000b","half":"\ud83d","__proto__":{"polluted":true},"constructor":{"prototype":1}}`;

    const response = await post(app, '/v1/tasks', `{"agent":"echo","input":${sent},"metadata":${sent}}`);

    expect(response.status).toBe(202);
    expect(JSON.stringify(asked.created.at(-1)?.input)).toBe(sent);
    expect(JSON.stringify(asked.created.at(-1)?.metadata)).toBe(sent);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test('refuses a field named __proto__ like any other unknown field', async () => {
    const response = await post(app, '/v1/tasks', '{"agent":"echo","__proto__":{"priority":5}}');

    expect(response.status).toBe(400);
    expect(await errorsOf(response)).toMatchObject([{ path: '/__proto__' }]);
  });

  test('takes the last of two fields with one name', async () => {
    await post(app, '/v1/tasks', '{"agent":"nobody","agent":"echo"}');

    expect(asked.created.at(-1)?.agent).toBe('echo');
  });

  test('lets the body of a cancel be left out, or be empty JSON', async () => {
    const empty = await send(app, CANCEL, { method: 'POST' });
    const typed = await send(app, CANCEL, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
    const object = await post(app, CANCEL, {});
    const reason = await post(app, CANCEL, { reason: 'enough' });

    expect([empty.status, typed.status, object.status, reason.status]).toEqual([200, 200, 200, 200]);
    expect(asked.cancelled.slice(-4)).toEqual([null, null, null, 'enough']);
  });

  test('refuses a reason of more than 1000 characters', async () => {
    expect((await post(app, CANCEL, { reason: 'x'.repeat(1001) })).status).toBe(400);
  });

  test('lets the body of a retry be left out, and takes nothing in it', async () => {
    const empty = await send(app, RETRY, { method: 'POST' });
    const object = await post(app, RETRY, {});
    const more = await post(app, RETRY, { input: 1 });

    expect([empty.status, object.status, more.status]).toEqual([202, 202, 400]);
    expect(asked.retried).toEqual([TASK.id, TASK.id]);
  });
});
