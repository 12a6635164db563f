import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHoldfast } from '../src/postgres.ts';
import { createApi } from './support/api.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from './support/postgres-server.ts';

const ROOT = path.join(import.meta.dirname, '..');
const agents = pathToFileURL(path.join(ROOT, 'examples/party-planner.ts'));
const isThere = (await findPostgres()) !== null;

describe.skipIf(!isThere)('a program with a Holdfast of its own on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('shares it with others: what one has asked is answered at another, also when the first has gone', async () => {
    const options = { database: database.url, databasePool: 4, agents, port: 0, workers: 2 };
    const first = await createHoldfast(options);
    const second = await createHoldfast(options);
    const task = await createApi(first.url).run('party-planner', { guests: ['Ada'] });
    await first.close();

    const api = createApi(second.url);
    const question = await api.pendingQuestion(task.id);
    await api.answer(question.id, true);
    const ended = await api.ended(task.id);
    await second.close();

    expect(task.status).toBe('waiting');
    expect(ended).toMatchObject({ status: 'completed', attempt: 1, output: { booked: true } });
  });

  test('is told in one line what is wrong with the database, and not its password', async () => {
    const url = new URL(database.url);
    url.pathname = 'there_is_none';
    url.password = 'secret';

    const starting = createHoldfast({ database: url.href, agents, port: 0 });

    await expect(starting).rejects.toThrow(/^The database there_is_none at \S+ does not exist; [^\n]*$/);
    await expect(starting).rejects.not.toThrow(/secret/);
  });
});

test('without the library for PostgreSQL a server says how to install the one that was tried', async () => {
  const { peerDependencies } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const hook = `export async function resolve(name, context, next) {
    if (name !== 'postgres') return next(name, context);
    throw Object.assign(new Error('Cannot find it'), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(asModule(hook))});`;
  const args = ['--import', 'tsx', '--import', asModule(register), 'src/cli/main.ts'];

  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const serve = [...args, 'serve', '--database', 'postgres://ann:secret@127.0.0.1/none'];
    execFile(process.execPath, serve, { cwd: ROOT }, (error, _, text) => resolve({ code: error?.code, stderr: text }));
  });

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(new RegExp(`^error: [^\n]* npm install postgres@${peerDependencies.postgres}\n$`)),
  });
});

function asModule(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`;
}
