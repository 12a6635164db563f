import { afterEach, describe, expect, test } from 'vitest';
import { cleanUp, start, temporaryDirectory } from './running-server.ts';

/** Set-up comes first, which builds what the tests' own run has not built. */
const LIMIT_MS = 120_000;

afterEach(cleanUp);

async function npmStart() {
  const env = { ...process.env, HOLDFAST_PORT: '0', HOLDFAST_DATA: temporaryDirectory() };
  const npm = start('npm', ['start'], { env, detached: true });
  const [, url = ''] = await npm.printed(/ serves (http:\S+)/);
  return { npm, url };
}

describe('npm start', () => {
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
