import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { STREAM_AGENTS } from '../protocol/stream-client.ts';
import { createApi, TASK_AGENTS } from '../support/api.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { readToSignal } from '../support/reader-crowd.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';

/** As JSON has them on the wire: what of it is kept, and how, must not hang on the engine. */
const VALUES = [
  String.raw`"a\u0000b"`,
  String.raw`"\u0000"`,
  String.raw`"\ud83d"`,
  String.raw`"\udc00\ud800 \\u0000 \\ud83d"`,
  String.raw`"\ue000\uf8ff\ufffe\uffff\u2028\u007f😀é\u0065\u0301"`,
  String.raw`{"\u0000":{"\ud83d":1},"b":1,"a":2,"":3,"__proto__":{"x":1},"10":1,"9":2}`,
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '-9007199254740993',
  '[-0, 0.1, 1e21, 1e-7, 1.7976931348623157e308, 5e-324, 123456789012345680000]',
  '"  \\t\\n "',
  '"%s $1 \'quoted\' \\"double\\" \\\\x00 {a,b} NULL"',
  'null',
  '[[], {}, "", false]',
];
const EVENT_BYTES = 64 * 1024;

const postgres = await findPostgres();

describe.skipIf(postgres === null)('What a client reads', () => {
  const servers: ServerProcess[] = [];
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    const agents = [...TASK_AGENTS, ...STREAM_AGENTS];
    servers.push(
      ...(await Promise.all([startServerProcess({ agents }), startServerProcess({ agents, database: database.url })])),
    );
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
  });

  /** Does the same at both, one after the other. */
  async function both(play: (url: string) => Promise<string[]>): Promise<[sqlite: string[], postgres: string[]]> {
    const [sqlite = [], onPostgres = []] = await Promise.all(servers.map(({ url }) => play(url)));
    return [sqlite, onPostgres];
  }

  test('is the same on both engines, whatever was written', async () => {
    const [sqlite, onPostgres] = await both(async (url) => {
      const texts: string[] = [];
      const api = createApi(url);
      const post = async (path: string, body: string) => {
        const answer = await api.post(path, body, { 'Idempotency-Key': `key-${texts.length}` });
        texts.push(`${path} ${answer.status} ${answer.text}`);
        return answer.body as { id: string };
      };
      for (const value of VALUES) {
        await post('/v1/tasks?wait=60', `{"agent": "echo", "input": ${value}, "metadata": {"is": ${value}}}`);
        const event = `{"op": "emit", "data": {"is": ${value}}}`;
        await post('/v1/tasks?wait=60', `{"agent": "script", "input": {"ops": [${event}]}}`);
        const { id } = await post('/v1/conversations', `{"title": ${value}, "metadata": {"is": ${value}}}`);
        await post(`/v1/conversations/${id}/messages?wait=60`, `{"content": ${value}, "agent": "echo"}`);
        const asks = '{"items": [{"id": "a", "prompt": "?"}]}';
        const task = await post('/v1/tasks?wait=60', `{"agent": "asker", "input": ${asks}}`);
        await post(`/v1/tasks/${task.id}/cancel`, `{"reason": ${value}}`);
        const spec = `{"items": [{"id": "a", "prompt": ${value}}], "metadata": {"is": ${value}}}`;
        const asking = await post('/v1/tasks?wait=60', `{"agent": "asker", "input": ${spec}}`);
        const { body } = await api.get<{ items: { id: string }[] }>(`/v1/questions?taskId=${asking.id}`);
        for (const question of body.items) {
          await post(`/v1/questions/${question.id}/answers`, `{"answers": {"a": ${value}}}`);
          await post(`/v1/questions/${question.id}/decline`, `{"reason": ${value}}`);
        }
        await api.ended(asking.id);
      }
      for (const what of ['NUL', 'a lone surrogate', 'emoji', 'huge']) {
        await post('/v1/tasks?wait=60', JSON.stringify({ agent: 'thrower', input: what }));
      }
      await post(
        '/v1/tasks?wait=60',
        JSON.stringify({ agent: 'emitter', input: [{ type: 'big.one', bytes: EVENT_BYTES }] }),
      );
      for (const path of ['/v1/tasks?order=asc&limit=200', '/v1/questions?limit=200', '/v1/conversations?limit=200']) {
        texts.push((await api.get(path)).text);
      }
      return texts;
    });

    expect(alike(onPostgres)).toEqual(alike(sqlite));
    expect(sqlite.length).toBeGreaterThan(100);
  });

  test('is told the same by the stream, byte for byte', async () => {
    const [sqlite, onPostgres] = await both(async (url) => {
      const blocks = await readToSignal(`${url}/v1/events`, '0', 'caught-up');
      // What one task tells may stand before or behind what another does.
      return blocks.map(({ id, event, data }) => `${id?.replace(/\.\d+$/, '')} ${event} ${data}`);
    });

    expect(sqlite.some((text) => text.length > EVENT_BYTES)).toBe(true);
    expect(alike(onPostgres)).toEqual(alike(sqlite));
  });
});

/** Without what is new at each run: ids in the order in which they turn up, instants, epochs and durations. */
function alike(texts: readonly string[]): string[] {
  const ids = new Map<string, string>();
  const named = (id: string) => {
    const name = ids.get(id) ?? `${id.split('_')[0]}_${ids.size}`;
    ids.set(id, name);
    return name;
  };
  return texts.map((text) =>
    text
      .replace(/\b(task|qst|conv|msg)_[0-9a-zA-Z]+/g, named)
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'at')
      .replace(/"[\w-]{8}\.(\d+)"/g, '"epoch.$1"')
      .replace(/^[\w-]{8}\b/, 'epoch')
      .replace(/"ms":\d+/g, '"ms":0'),
  );
}
