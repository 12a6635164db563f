import { cpSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import { cleanUp, root, start } from '../cli/running-server.ts';
import { type Api, createApi, type Page as ListPage } from '../support/api.ts';
import { describeInChromium } from '../support/chromium.ts';
import { type FlakyProxy, openFlakyProxy } from '../support/flaky-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';

const FOLDER = path.join(root, 'examples/browser');
const AGENTS = ['test/browser/browser-agents.ts', 'test/examples/form-agents.ts'];
/** Two servers are started, one after the other. */
const RESTART_MS = 120_000;
const WAITS = { timeout: 30_000 };

test('the page has at most sixty lines, and never writes HTML', () => {
  const page = readFileSync(path.join(FOLDER, 'index.html'), 'utf8');

  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
});

describeInChromium('The page without a library', (chromium) => {
  const dataDir = newDirectory();
  let server: ServerProcess;
  let api: Api;
  let proxy: FlakyProxy;
  let url: string;
  beforeAll(async () => {
    await up();
    proxy = await openFlakyProxy(server.url, new Map());
    const serving = start(process.execPath, [path.join(FOLDER, 'serve.mjs'), proxy.url, '0']);
    [, url = ''] = await serving.printed(/(http:\S+)/);
  });
  afterEach(() => {
    proxy.mode = 'pass';
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
    await cleanUp();
  });

  async function up(): Promise<void> {
    server = await startServerProcess({ dataDir, agents: AGENTS });
    api = createApi(server.url);
    if (proxy !== undefined) proxy.target = server.url;
  }

  async function open(conversation = ''): Promise<Page> {
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.goto(`${url}#${conversation}`);
    return page;
  }

  async function newConversation(): Promise<string> {
    const { body } = await api.post<Conversation>('/v1/conversations');
    return body.id;
  }

  async function write(conversation: string, agent: string, content: string): Promise<void> {
    const { status, text } = await api.post(`/v1/conversations/${conversation}/messages`, { agent, content });
    expect(status, text).toBe(202);
  }

  async function messagesOf(conversation: string): Promise<string[]> {
    const { body } = await api.get<ListPage<Message>>(`/v1/conversations/${conversation}/messages`);
    return body.items.map(({ content }) => content);
  }

  /** Expects that the page shows what the server has, in its order. */
  async function expectWhole(page: Page, conversation: string): Promise<void> {
    await expect.poll(() => page.locator('[aria-busy]').count(), WAITS).toBe(0);
    await expect.poll(() => page.locator('main p').allTextContents(), WAITS).toEqual(await messagesOf(conversation));
  }

  test('begins a conversation, and goes on after reloads with the running text, the question and its answer', async () => {
    const page = await open();
    await page.waitForURL(/#conv_/);
    const conversation = new URL(page.url()).hash.slice(1);

    await page.getByLabel('Message').fill('Plan me a weekend in Porto');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('p[aria-busy]', { hasText: /\w/ }).waitFor();
    await page.reload();
    await page.getByRole('listbox').waitFor();
    await page.reload();
    await page.getByRole('listbox').selectOption('June');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText(/^Here is your weekend in Porto. In June you leave/).waitFor();

    await expectWhole(page, conversation);
    expect(await page.getByRole('button', { name: 'Answer' }).count()).toBe(0);
    await page.reload();
    await expectWhole(page, conversation);
  });

  test('answers every kind of item, and says what the server has against an answer', async () => {
    const conversation = await newConversation();
    const page = await open(conversation);
    await write(conversation, 'clerk', 'book');
    const labels = page.locator('section label');
    await expect.poll(() => labels.count(), WAITS).toBe(7);
    const [city, extras, seat, nights, insured, , name] = await labels.all();

    await city?.locator('select').selectOption('Porto by the river');
    await extras?.locator('select').selectOption([{ value: 'breakfast' }, { value: 'boat' }]);
    await seat?.locator('input').fill('near the wing');
    await nights?.locator('input').fill('0');
    await insured?.locator('input').check();
    await name?.locator('input').fill('Ada');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('The answer must be at least 1.').waitFor();
    await nights?.locator('input').fill('2.5');
    await page.getByRole('button', { name: 'Answer' }).click();
    await page.getByText('It was answered.').waitFor();

    const { body } = await api.get<ListPage<{ answers: object }>>(`/v1/questions?conversationId=${conversation}`);
    expect(body.items[0]?.answers).toEqual({
      city: 'opo "1"',
      extras: ['breakfast', 'boat'],
      seat: 'near the wing',
      nights: 2.5,
      insured: true,
      name: 'Ada',
    });
  });

  // Would fail with EventSource alone: it gives up for ever at the first answer that is no stream.
  test.each(['bad-gateway', 'unavailable', 'drop'] as const)(
    'outlasts a server that is away behind a proxy (%s), and keeps what was typed',
    async (mode) => {
      const conversation = await newConversation();
      await write(conversation, 'asker', 'form');
      const page = await open(conversation);
      await page.locator('section input').nth(1).fill('3');
      const before = proxy.requests.length;

      proxy.mode = mode;
      proxy.cut();
      await page.getByText('The connection is lost').waitFor();
      await expect.poll(() => proxy.requests.length, WAITS).toBeGreaterThan(before + 1);
      proxy.mode = 'pass';
      await page.getByText('The connection is lost').waitFor({ state: 'detached' });

      expect(await page.locator('section input').nth(1).inputValue()).toBe('3');
      await write(conversation, 'speaker', '5 0');
      await page.getByText('word-4').waitFor();
      await expectWhole(page, conversation);
      expect(await page.getByRole('button', { name: 'Answer' }).count()).toBe(0);
    },
  );

  // Would fail without the key, which makes the second sending the same as the first.
  test('sends what had no reply until it knows, and it takes effect once', async () => {
    const conversation = await newConversation();
    await write(conversation, 'asker', 'text');
    const page = await open(conversation);
    const sent = (pattern: RegExp) => proxy.requests.filter((each) => pattern.test(each)).length;
    const before = sent(/answers$/);

    await page.locator('section input').last().fill('tunnel');
    proxy.mode = 'lose-answers';
    await page.getByRole('button', { name: 'Answer' }).click();
    await expect.poll(() => sent(/answers$/), WAITS).toBeGreaterThan(before + 1);
    proxy.mode = 'pass';
    await page.getByText('It was answered.').waitFor();
    proxy.mode = 'lose-answers';
    await page.getByLabel('Message').fill('choice');
    await page.getByRole('button', { name: 'Send' }).click();
    await expect.poll(() => sent(new RegExp(`POST .*${conversation}/messages$`)), WAITS).toBeGreaterThan(1);
    proxy.mode = 'pass';
    await page.getByRole('option', { name: 'June' }).waitFor();

    expect(await messagesOf(conversation)).toEqual(['text', 'It was answered.', 'choice']);
    await expectWhole(page, conversation);
  });

  test('shows text as text', async () => {
    const conversation = await newConversation();
    const page = await open(conversation);

    await write(conversation, 'speaker', '1 0');
    await write(conversation, 'villain', '0 40');
    await page.getByRole('button', { name: 'Answer' }).waitFor();

    await expectWhole(page, conversation);
    expect(await page.locator('main *, section *').evaluateAll(tagNames)).toEqual([
      ...new Set(['BUTTON', 'FORM', 'INPUT', 'LABEL', 'OPTION', 'P', 'SELECT']),
    ]);
  });

  // Would fail without `reset`: the page would show for ever what the server does not have any more.
  test(
    'reads all again when the server was put back to an older copy of its data',
    async () => {
      const conversation = await newConversation();
      await write(conversation, 'speaker', '2 0');
      const page = await open(conversation);
      await page.getByText('word-1').waitFor();
      const copy = newDirectory();
      onTestFinished(() => rmSync(copy, { recursive: true }));

      await server.stop();
      cpSync(dataDir, copy, { recursive: true });
      await up();
      await write(conversation, 'speaker', '4 0');
      await page.getByText('word-3').waitFor(WAITS);
      await server.stop();
      rmSync(dataDir, { recursive: true });
      cpSync(copy, dataDir, { recursive: true });
      await up();

      await expect.poll(() => page.getByText('word-3').count(), WAITS).toBe(0);
      await expectWhole(page, conversation);
    },
    RESTART_MS,
  );

  test('stops when the conversation is deleted, and leaves no stream behind when it is closed', async () => {
    const conversation = await newConversation();
    const page = await open(conversation);
    await expect.poll(() => proxy.openStreams).toBe(1);

    await api.send(`/v1/conversations/${conversation}`, { method: 'DELETE' });
    await page.getByText('This conversation was deleted.').waitFor();
    await expect.poll(() => proxy.openStreams).toBe(0);

    const another = await open(await newConversation());
    await expect.poll(() => proxy.openStreams).toBe(1);
    await another.close();
    await expect.poll(() => proxy.openStreams).toBe(0);
  });
});

function tagNames(elements: { tagName: string }[]): string[] {
  return [...new Set(elements.map(({ tagName }) => tagName))].sort();
}
