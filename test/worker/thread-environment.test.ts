import { expect, test } from 'vitest';
import { threadEnvironment } from '../../src/worker/thread-environment.ts';
import { createApi } from '../support/api.ts';
import { startServerProcess } from '../support/server-process.ts';

type Environment = Record<string, string>;

test('an agent and the programs that it starts see no variable that nobody has named for agents', async () => {
  const server = await startServerProcess({
    agents: ['test/worker/environment-agents.ts'],
    env: {
      AWS_SECRET_ACCESS_KEY: 'canary',
      HOLDFAST_JWT_SECRET: 'canary',
      DATABASE_URL: 'let through',
      HOLDFAST_MODEL: 'a model',
      HOLDFAST_AGENT_ENV: 'DATABASE_URL',
    },
  });

  const task = await createApi(server.url).run('exhibitor');

  expect(await server.stop()).toBe(0);
  expect(JSON.stringify(task)).not.toContain('canary');
  const { own, child } = task.output as { own: Environment; child: Environment };
  for (const seen of [own, child]) {
    expect(seen).toMatchObject({ DATABASE_URL: 'let through', HOLDFAST_MODEL: 'a model', PATH: process.env.PATH });
  }
});

test('what all agents get is a short list', () => {
  const given = {
    PATH: '/bin',
    HOME: '/',
    LC_TIME: 'C',
    HTTPS_PROXY: 'http://a:b@c',
    NODE_OPTIONS: '',
    npm_token: 'x',
  };

  expect(threadEnvironment(given, [])).toEqual({ PATH: '/bin', HOME: '/', LC_TIME: 'C' });
});

test('a name that ends in * stands for all that begin so', () => {
  const given = { AWS_REGION: 'eu', AWS_PROFILE: 'p', MY_AWS_KEY: 'k' };

  expect(threadEnvironment(given, ['AWS_*'])).toEqual({ AWS_REGION: 'eu', AWS_PROFILE: 'p' });
});

// Would fail if a wide `*` handed the secrets of the server's own options to agents.
test('what configures the server goes to no agent, whatever is named', () => {
  const given = { HOLDFAST_JWT_SECRET: 's', HOLDFAST_DATA: '/d', HOLDFAST_MODEL_KEY: 'k', OTHER: 'o' };

  expect(threadEnvironment(given, ['*', 'HOLDFAST_*', 'HOLDFAST_JWT_SECRET'])).toEqual({
    HOLDFAST_MODEL_KEY: 'k',
    OTHER: 'o',
  });
});

test('Windows asks for names in any case, and needs a few more', () => {
  const given = { Path: 'C:\\', SystemRoot: 'C:\\Windows', My_Key: 'k', Secret: 's', Holdfast_Data: 'd' };

  expect(threadEnvironment(given, ['MY_KEY', 'holdfast_data'], 'win32')).toEqual({
    Path: 'C:\\',
    SystemRoot: 'C:\\Windows',
    My_Key: 'k',
  });
});
