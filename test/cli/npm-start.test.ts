import { afterEach, describe, expect, test } from 'vitest';
import { cleanUp, start, temporaryDirectory } from './running-server.ts';

/** Set-up comes first, which builds what the tests' own run has not built. */
const LIMIT_MS = 120_000;

afterEach(cleanUp);

async function npmStart(...flags: string[]) {
  const env = { ...process.env, HOLDFAST_PORT: '0', HOLDFAST_DATA: temporaryDirectory() };
  const npm = start('npm', ['start', '--', ...flags], { env, detached: true });
  const [, url = ''] = await npm.printed(/ serves (http:\S+)/);
  return { npm, url };
}

describe('npm start', () => {
  test(
    'serves the agents of a TypeScript module from what is built',
    async () => {
      const { npm, url } = await npmStart('--agents', 'examples/party-planner.ts');

      const response = await fetch(`${url}/v1/tasks?wait=30`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ agent: 'party-planner', input: { guests: ['Ada', 'Grace'] } }),
      });
      npm.child.kill('SIGTERM');

      expect(await response.json()).toMatchObject({ status: 'waiting', pendingQuestionCount: 1 });
      expect(await npm.exited).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    'ends with 0 at Ctrl-C, which npm passes on once more',
    async () => {
      const { npm } = await npmStart();

      // A terminal signals the whole group.
      process.kill(-(npm.child.pid ?? 0), 'SIGINT');

      expect(await npm.exited).toBe(0);
    },
    LIMIT_MS,
  );

  test(
    'ends with 0 at SIGTERM and leaves no server behind',
    async () => {
      const { npm, url } = await npmStart();

      npm.child.kill('SIGTERM');

      expect(await npm.exited).toBe(0);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    },
    LIMIT_MS,
  );
});
