import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished } from 'vitest';
import type { Conversation } from '../../src/model/conversation.ts';
import type { Message } from '../../src/model/event.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi } from '../support/api.ts';
import { type FlakyProxy, openFlakyProxy, type StaticPage } from '../support/flaky-proxy.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { copyDirectory, newDirectory } from '../support/store-directory.ts';

/** A server as a site runs it: behind a proxy that may fail, on the same origin as the pages that use it. */
export interface Site {
  readonly proxy: FlakyProxy;
  /** Speaks to the server itself, past the proxy. */
  readonly api: Api;
  /** Ends the server; the proxy's clients find that nothing listens. */
  down(by: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts it again on the same data. */
  up(): Promise<void>;
  /** Copies the data, while the server is down. @returns what puts the copy back, at such a time as well */
  backUp(): () => void;
  /** How many streams are open, as the server counts them. */
  openStreams(): Promise<number>;
  newConversation(): Promise<string>;
  /** Writes in a conversation, and gives the turn that it begins. */
  write(
    conversationId: string,
    agent: string,
    content: string,
    whenBusy?: 'interrupt' | 'enqueue',
  ): Promise<{ message: Message; task: Task }>;
  /** The log's cursor now. */
  head(): Promise<string>;
  close(): Promise<void>;
}

const AGENTS = ['test/browser/browser-agents.ts'];

export interface SiteOptions {
  dataDir?: string;
  /** More flags of `serve`. */
  flags?: string[];
  /** What its `api` shows; null for nothing. */
  token?: string | null;
}

export async function openSite({
  dataDir = newDirectory(),
  flags = [],
  token = null,
}: SiteOptions = {}): Promise<Site> {
  const start = () => startServerProcess({ dataDir, agents: AGENTS, flags });
  let server: ServerProcess = await start();
  const proxy = await openFlakyProxy(server.url, await pages());
  let api = createApi(server.url, token);

  return {
    proxy,
    get api() {
      return api;
    },
    async down(by) {
      if (by === 'SIGKILL') await server.kill();
      else expect(await server.stop('SIGTERM')).toBe(0);
    },
    async up() {
      server = await start();
      proxy.target = server.url;
      api = createApi(server.url, token);
    },
    backUp() {
      const copy = copyDirectory(dataDir);
      return () => {
        rmSync(dataDir, { recursive: true });
        cpSync(copy, dataDir, { recursive: true });
      };
    },
    async openStreams() {
      const { text } = await api.get('/metrics');
      return Number(/^holdfast_streams_open (\d+)$/m.exec(text)?.[1]);
    },
    async newConversation() {
      const { body } = await api.post<Conversation>('/v1/conversations');
      return body.id;
    },
    async write(conversationId, agent, content, whenBusy = 'interrupt') {
      const path = `/v1/conversations/${conversationId}/messages`;
      const { status, text, body } = await api.post<{ message: Message; task: Task }>(path, {
        agent,
        content,
        whenBusy,
      });
      if (status !== 202) throw new Error(`Refused with ${status}: ${text}`);
      return body;
    },
    async head() {
      const { headers } = await api.get('/v1/tasks?limit=1');
      return headers.get('Holdfast-Cursor') ?? '';
    },
    async close() {
      await proxy.close();
      expect(await server.stop()).toBe(0);
      expect(server.stderr()).toBe('');
    },
  };
}

/** Another way to a site, with troubles of its own. */
export async function openPathTo(site: Site): Promise<FlakyProxy> {
  return openFlakyProxy(site.api.url, await pages());
}

/** Puts a site right after a test that has broken it. */
export function mendAfterwards({ proxy }: Site): void {
  onTestFinished(() => {
    proxy.mode = 'pass';
    proxy.holdsStreams = 'no';
    proxy.latencyMs = 0;
  });
}

/** The pages that are served beside Holdfast: by path. */
async function pages(): Promise<ReadonlyMap<string, StaticPage>> {
  const { outputFiles } = await build({
    entryPoints: ['probe-script.ts', 'plain-script.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url))),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    outdir: '/',
    write: false,
    logLevel: 'warning',
  });
  const scripts = outputFiles.map(({ path, text }): [string, StaticPage] => [
    path,
    { type: 'text/javascript', body: text },
  ]);
  const html = (script: string) => `<!doctype html><title>Probe</title><script type="module" src="${script}"></script>`;
  return new Map([
    ...scripts,
    ['/probe', { type: 'text/html', body: html('/probe-script.js') }],
    ['/plain', { type: 'text/html', body: html('/plain-script.js') }],
    ['/elsewhere', { type: 'text/html', body: '<!doctype html><title>Elsewhere</title>' }],
  ]);
}
