import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type Api, createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import * as modules from './task-agents.ts';

interface Agent {
  name: string;
  description: string;
  version: string;
  inputSchema: object | null;
}

let server: ServerProcess;
let api: Api;

beforeAll(async () => {
  server = await startServerProcess({ agents: TASK_AGENTS });
  api = createApi(server.url);
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  expect(server.stderr()).toBe('');
});

async function listed(): Promise<Agent[]> {
  const { body } = await api.get<{ items: Agent[] }>('/v1/agents');
  return body.items;
}

async function agentNamed(name: string): Promise<Agent | undefined> {
  return (await listed()).find((agent) => agent.name === name);
}

test('§3 GET /v1/agents lists every agent of the module and the built-in ones, each once', async () => {
  const names = (await listed()).map(({ name }) => name);

  const builtIn = ['assistant', 'chat', 'trip-planner'];
  expect(names.toSorted()).toEqual([...Object.values(modules).map(({ name }) => name), ...builtIn].sort());
});

test('§3 an agent has a name, a description, a version and an input schema, and nothing else', async () => {
  const { body } = await api.get<{ items: Agent[] }>('/v1/agents');

  expect(Object.keys(body)).toEqual(['items']);
  for (const agent of body.items) {
    expect(Object.keys(agent).sort()).toEqual(['description', 'inputSchema', 'name', 'version']);
  }
});

test('§3 an agent is shown as it was defined', async () => {
  expect(await agentNamed('greeter')).toMatchObject({ version: '3', description: 'Greets by name.' });
  expect(await agentNamed('echo')).toEqual({ name: 'echo', version: '1', description: '', inputSchema: null });
});

test('§3 the input schema is JSON Schema that takes what the agent takes', async () => {
  const agent = await agentNamed('greeter');
  const schema = z.fromJSONSchema(agent?.inputSchema as Parameters<typeof z.fromJSONSchema>[0]);
  const inputs = [
    { name: 'Ada' },
    { name: 'Ada', formal: true },
    { name: '' },
    {},
    { name: 1 },
    { name: 'x'.repeat(21) },
  ];

  for (const input of inputs) {
    const { status } = await api.post('/v1/tasks', { agent: 'greeter', input });

    expect(status).toBe(schema.safeParse(input).success ? 202 : 422);
  }
});

test('§3 an agent whose schema is no zod schema has null', async () => {
  expect(await agentNamed('odd-schema')).toMatchObject({ inputSchema: null });
});

test('§3 an agent that is not listed cannot be asked', async () => {
  expectProblem(await api.post('/v1/tasks', { agent: 'nobody' }), 422, 'unknown_agent');
});
