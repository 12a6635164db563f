import { cpSync, rmSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { createConversationStore } from '../../src/client/conversation/conversation-store.ts';
import { createClient } from '../../src/client/create-client.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { outline } from './made-log.ts';
import { openPage, said, shown } from './shown.ts';

const AGENTS = ['test/protocol/conversation-agents.ts', 'test/client/program-agents.ts'];

let server: ServerProcess;
afterEach(() => server.kill());

const portOf = ({ url }: ServerProcess) => Number(new URL(url).port);

test.each([{ share: false }, { share: true }])(
  'a server that is killed goes on, and so does what is shown, with share $share',
  async (how) => {
    const dataDir = newDirectory();
    server = await startServerProcess({ agents: AGENTS, dataDir });
    const client = createClient({ url: server.url, ...how });
    const { id } = await client.conversations.create();
    const store = createConversationStore(client, id);
    const page = openPage(store);
    await store.send({ content: 'work ramble ask', agent: 'program' });
    await shown(store, ({ entries }) => entries.some(({ kind }) => kind === 'text'));

    await server.kill();
    const port = portOf(server);
    server = await startServerProcess({ agents: AGENTS, dataDir, port });
    client.wake();
    const view = await shown(store, ({ questions }) => questions.length === 1);

    const said = expect.stringMatching(/^assistant: ramble-1-0: so this/);
    expect(outline(view.entries)).toEqual([
      'user: work ramble ask',
      'work-0-0 completed',
      'recovered',
      said,
      'ask-2-0 pending',
    ]);
    expect(page.views.every(({ status }) => status !== 'failed')).toBe(true);
    client.close();
    rmSync(dataDir, { recursive: true });
  },
  120_000,
);

test.each([{ share: false }, { share: true }])(
  'a backup that is put back is shown as it is, with share $share',
  async (how) => {
    const dataDir = newDirectory();
    const backup = newDirectory();
    server = await startServerProcess({ agents: AGENTS, dataDir });
    const port = portOf(server);
    const client = createClient({ url: server.url, ...how });
    const { id } = await client.conversations.create();
    await client.conversations.send(id, { content: 'Porto', agent: 'hesitant' });
    const store = createConversationStore(client, id);
    const page = openPage(store);
    await shown(store, ({ questions }) => questions.length === 1);
    await server.stop();
    cpSync(dataDir, backup, { recursive: true });
    server = await startServerProcess({ agents: AGENTS, dataDir, port });
    client.wake();
    await store.send({ content: 'Rome', agent: 'parrot' });
    await shown(store, (view) => said(view, 'You said: Rome') !== undefined);
    await server.stop();
    const shownBefore = page.views.length;

    server = await startServerProcess({ agents: AGENTS, dataDir: backup, port });
    client.wake();
    const view = await shown(store, (each) => said(each, 'Rome') === undefined);

    expect(outline(view.entries)).toEqual(['user: Porto', 'assistant: About Porto.', 'sure pending']);
    expect(view).toMatchObject({ status: 'ready', questions: [{ name: 'sure' }], unfinished: [{ agent: 'hesitant' }] });
    // The old one stays until the new one is there: nothing between them is shown.
    const between = page.views.slice(shownBefore).map(({ entries }) => entries.length);
    expect(new Set(between)).toEqual(new Set([outline(view.entries).length, between[0]]));
    client.close();
    for (const each of [dataDir, backup]) rmSync(each, { recursive: true });
  },
  120_000,
);
