import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cleanUp, root, startHoldfast, startServer, temporaryDirectory } from './running-server.ts';

afterEach(cleanUp);

/** A waiting reader of a stream: the text that has come, once it has come to its end. */
async function openStream(url: string): Promise<{ text: Promise<string> }> {
  const response = await fetch(`${url}/v1/events`);
  return { text: response.text() };
}

describe('holdfast serve', () => {
  test('prints its address and a line to try, which works', async () => {
    const server = await startServer();

    const [, body = ''] = await server.printed(/ -d '(\{.*\})'/);
    const response = await fetch(`${server.url}/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });

    expect(response.status).toBe(202);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 at %s and lets open streams go', async (signal) => {
    const server = await startServer();
    const stream = await openStream(server.url);

    server.child.kill(signal);

    expect(await server.exited).toBe(0);
    expect(await stream.text).toMatch(/event: bye\nretry: \d+\ndata: {"reason":"drain"}/);
  });

  test('ends at once, as killed, at a second signal while a task holds up the end', async () => {
    const agents = path.join(temporaryDirectory(), 'agents.ts');
    const defineAgent = path.join(root, 'src/worker/define-agent.ts');
    writeFileSync(
      agents,
      `import { defineAgent } from '${defineAgent}';
       export default defineAgent({ name: 'endless', run: () => new Promise(() => {}) });`,
    );
    const server = await startServer('--agents', agents);
    const stream = await openStream(server.url);
    await fetch(`${server.url}/v1/tasks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"agent": "endless"}',
    });
    const accept = 'application/json';
    await fetch(`${server.url}/v1/events?after=0&types=task.started&wait=30`, { headers: { accept } });

    server.child.kill('SIGTERM');
    expect(await stream.text).toContain('event: bye');
    server.child.kill('SIGINT');

    expect(await server.exited).toBe(130);
  });

  test('says in one line that its port is in use', async () => {
    const { url } = await startServer();
    const { port } = new URL(url);

    const second = startHoldfast('serve', '--port', port, '--data', temporaryDirectory());

    expect(await second.exited).toBe(1);
    expect(second.stderr).toBe(`error: Port ${port} of 127.0.0.1 is in use; choose another with --port.\n`);
    expect(second.stdout).toBe('');
  });

  test.each(['0.0.0.0', '::', '192.0.2.1'])('says in one line that %s takes authentication', async (host) => {
    const refused = startHoldfast('serve', '--port', '0', '--host', host, '--data', temporaryDirectory());

    expect(await refused.exited).toBe(1);
    expect(refused.stderr).toMatch(/^error: Without authentication [^\n]*--auth token[^\n]*\n$/);
    expect(refused.stdout).toBe('');
  });

  test('says in one line that another server has its data', async () => {
    const { dataDir } = await startServer();

    const second = startHoldfast('serve', '--port', '0', '--data', dataDir);

    expect(await second.exited).toBe(1);
    expect(second.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(second.stderr).toContain(dataDir);
  });

  test('says in one line that a module of agents does not load', async () => {
    const file = path.join(temporaryDirectory(), 'agents.mjs');
    writeFileSync(file, 'throw new Error("no such model");');

    const server = startHoldfast('serve', '--port', '0', '--data', temporaryDirectory(), '--agents', file);

    expect(await server.exited).toBe(1);
    expect(server.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(server.stderr).toContain('agents.mjs');
    expect(server.stderr).toContain('no such model');
  });
});

describe('holdfast demo', () => {
  test('shows that nothing was missed or doubled across the cut, and ends with 0', async () => {
    const demo = startHoldfast('demo');

    expect(await demo.exited, demo.stdout).toBe(0);
    expect(demo.stdout).toContain('The connection is cut');
    expect(demo.stdout).toContain('Missing: 0. Twice: 0.');
    expect(demo.stdout.trimEnd().split('\n').at(-1)).toMatch(/^It held: /);
  }, 120_000);
});
