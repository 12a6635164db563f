import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { createApi, expectProblem } from '../support/api.ts';
import { createTestDatabase, findPostgres } from '../support/postgres-server.ts';
import { startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';

const postgres = await findPostgres();
const ROOT = path.join(import.meta.dirname, '../..');

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function tokens(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', 'tsx', 'src/cli/main.ts', 'tokens', ...args],
      { cwd: ROOT },
      (error, stdout, stderr) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

describe('holdfast tokens', () => {
  test('makes a token, lists it without what it is, and ends it, while a server runs', async ({ skip }) => {
    onlyOnSqlite(skip);
    const dataDir = newDirectory();
    const server = await startServerProcess({ dataDir, flags: ['--auth', 'token'] });

    const made = await tokens('create', '--data', dataDir, '--owner', 'ann', '--scopes', 'tasks:read', '--json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id, token, ...rest } = JSON.parse(made.stdout);
    expect(id).toMatch(/^tok_[0-9a-z]{26}$/);
    // 256 bits in base64url.
    expect(token).toMatch(/^hf_token_[\w-]{43}$/);
    expect(rest).toEqual({});
    const api = createApi(server.url, token);
    expect((await api.get('/v1/tasks')).status).toBe(200);
    expectProblem(await api.post('/v1/tasks', { agent: 'echo' }), 403, 'forbidden');

    const [listed, ...others] = JSON.parse((await tokens('list', '--data', dataDir, '--json')).stdout);
    expect(others).toEqual([]);
    expect(listed).toMatchObject({ id, owner: 'ann', scopes: ['tasks:read'], state: 'good', expiresAt: null });
    expect(Date.now() - Date.parse(listed.lastUsedAt)).toBeLessThan(60_000);

    expect(await tokens('revoke', id, '--data', dataDir)).toMatchObject({ code: 0, stdout: `${id} is revoked.\n` });
    expectProblem(await api.get('/v1/tasks'), 401, 'unauthorized');
    const table = (await tokens('list', '--data', dataDir)).stdout;
    expect(table).toMatch(new RegExp(`^${id} +ann +tasks:read +revoked +expires never +used \\d{4}-`));
    expect(table).not.toContain(token);
    expect(await server.stop()).toBe(0);

    // It was shown once, and stands nowhere.
    for (const name of readdirSync(dataDir)) {
      expect(readFileSync(path.join(dataDir, name), 'latin1').includes(token.slice('hf_token_'.length)), name).toBe(
        false,
      );
    }
  });

  test('gives the everyday scopes, and an end, when that is asked for', async () => {
    const dataDir = newDirectory();
    const { stdout } = await tokens('create', '--data', dataDir, '--owner', 'ann', '--expires-in-days', '0.5');
    expect(stdout).toMatch(/^hf_token_[\w-]{43}\n\nThis is tok_\w+ of ann\. It is not shown again\.\n$/);
    const [{ scopes, createdAt, expiresAt }] = JSON.parse((await tokens('list', '--data', dataDir, '--json')).stdout);
    expect(scopes).toEqual(['tasks:read', 'tasks:write', 'questions:answer']);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(12 * 60 * 60_000);
  });

  test.each([
    [['create', '--data', '/tmp', '--owner', 'a b'], '--owner: 1 to 255 visible ASCII characters.'],
    [['create', '--data', '/tmp', '--owner', 'ann', '--scopes', 'tasks'], '--scopes: "tasks" is not one of'],
    [['create', '--data', '/tmp', '--owner', 'ann', '--expires-in-days', '0'], '--expires-in-days: "0" is not'],
    [['create', '--data', '/tmp'], "required option '--owner <name>' not specified"],
    [['list', '--data', '/nowhere/at/all'], '--data: there is no directory /nowhere/at/all.'],
    [['revoke', 'tok_1', '--data', newDirectory()], 'There is no token tok_1.'],
    [['destroy'], "unknown command 'destroy'"],
  ])('says what is wrong with %j', async (args, message) => {
    const { code, stdout, stderr } = await tokens(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe.skipIf(postgres === null)('holdfast tokens --database', () => {
  test('does the same for the servers of a PostgreSQL', async () => {
    const database = await createTestDatabase();
    const where = ['--database', database.url];

    const made = JSON.parse((await tokens('create', ...where, '--owner', 'ann', '--json')).stdout);
    expect(await tokens('revoke', made.id, ...where)).toMatchObject({ code: 0, stdout: `${made.id} is revoked.\n` });
    const { stdout } = await tokens('list', ...where, '--json');

    expect(JSON.parse(stdout)).toMatchObject([{ id: made.id, owner: 'ann', state: 'revoked' }]);
    expect(stdout).not.toContain(made.token);
    await database.drop();
  });

  test('says which database cannot be reached, and not by which password', async () => {
    const { code, stdout, stderr } = await tokens('list', '--database', 'postgres://ann:hidden@127.0.0.1:1/none');

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: The database none at 127\.0\.0\.1:1 cannot be reached: .+\n$/);
    expect(stderr).not.toContain('hidden');
  });
});
