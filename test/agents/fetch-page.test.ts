import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFetchPage, fetchPage } from '../../src/agents/fetch-page.ts';
import type { Network } from '../../src/agents/page-request.ts';
import { isPublicAddress } from '../../src/agents/public-address.ts';
import type { Tool, ToolContext } from '../../src/agents/tool.ts';
import { type PageServer, startPageServer } from './page-server.ts';

/** What each name resolves to, one answer after the other; the last one stays. */
const names: { [hostname: string]: string[][] } = {
  'page.test': [['127.0.0.1']],
  'other.test': [['127.0.0.1']],
  'stranger.test': [['127.0.0.1']],
  'rebinding.test': [['127.0.0.1'], ['127.0.0.2']],
  'inner.test': [['10.0.0.1']],
  'mixed.test': [['127.0.0.1', '192.168.0.1']],
  'nowhere.test': [[]],
};

let server: PageServer;
let arrived: () => void = () => {};

beforeAll(async () => {
  const html = (text: string | Buffer, type = 'text/html') => ({ text, headers: { 'content-type': type } });
  const pages: { [path: string]: { text?: string | Buffer; status?: number; headers: { [name: string]: string } } } = {
    '/page': html('<title>A page</title><p>Read <a href="/more">more</a>.'),
    '/text': html('a  <b>\n', 'text/plain; charset=utf-8'),
    '/json': html('{"a": 1}', 'application/json'),
    '/latin': html(Buffer.from('gr\xfc\xdfe', 'latin1'), 'text/plain; charset=ISO-8859-1'),
    '/meta': html(Buffer.from('<meta charset="windows-1252"><p>gr\xfc\xdfe', 'latin1')),
    '/martian': html('a', 'text/plain; charset=martian'),
    '/gzip': { ...html(gzipSync('<p>packed')), headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' } },
    '/br': {
      ...html(brotliCompressSync('<p>packed')),
      headers: { 'content-type': 'text/html', 'content-encoding': 'br' },
    },
    '/zstd': { ...html('a'), headers: { 'content-type': 'text/html', 'content-encoding': 'zstd' } },
    '/large': html('a'.repeat(60_000), 'text/plain'),
    '/empty': { status: 204, headers: {} },
    '/untyped': { text: 'a', headers: {} },
    '/image': html('a', 'image/svg+xml'),
    '/to-http': redirect('http://page.test/page'),
    '/to-inner': redirect('https://inner.test/'),
    '/to-address': redirect('https://127.0.0.2/'),
    '/to-nothing': { status: 302, headers: {} },
    '/round': redirect('/round'),
    ...Object.fromEntries([1, 2, 3, 4].map((n) => [`/hop${n}`, redirect(`/hop${n + 1}`)])),
    '/hop5': redirect('//other.test:PORT/page'),
    '/hop0': redirect('/hop1'),
  };
  server = await startPageServer(['page.test', 'other.test', 'rebinding.test', 'mixed.test', 'inner.test'], {
    ...Object.fromEntries(
      Object.entries(pages).map(([path, { text, status = 200, headers }]) => [
        path,
        (response) => {
          const { location, ...others } = headers;
          const to = location === undefined ? {} : { location: location.replace('PORT', `${server.port}`) };
          response.writeHead(status, { ...others, ...to }).end(text);
        },
      ]),
    ),
    '/endless': endless,
    '/silent': () => arrived(),
    '/stalled': (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<p>a');
      arrived();
    },
  });
});

afterAll(() => server.close());

function redirect(location: string) {
  return { status: 302, headers: { location } };
}

/** A page without an end that is small on its way. */
function endless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
  pipeline(Readable.from(letters()), createGzip(), response, () => {});
}

function* letters(): Generator<Buffer> {
  const some = Buffer.alloc(256 * 1024, 'a');
  for (;;) yield some;
}

/** Names of the test are resolved in their own way, and this machine may be reached by one of its addresses. */
function testNetwork(): Network & { resolved: string[] } {
  const resolved: string[] = [];
  return {
    resolved,
    ca: server.ca,
    mayReach: (address) => address === '127.0.0.1' || isPublicAddress(address),
    async resolve(hostname) {
      const answers = names[hostname] ?? [];
      const before = resolved.filter((name) => name === hostname).length;
      resolved.push(hostname);
      return (answers[Math.min(before, answers.length - 1)] ?? []).map((address) => ({ address, family: 4 }));
    },
  };
}

async function get(path: string, tool: Tool = createFetchPage({ network: testNetwork() }), signal?: AbortSignal) {
  const url = path.startsWith('/') ? `https://page.test:${server.port}${path}` : path.replace('PORT', `${server.port}`);
  const parsed = await tool.parse({ url });
  if (!parsed.ok) throw new Error(parsed.message);
  return tool.run(parsed.input, contextWith(signal ?? new AbortController().signal));
}

function contextWith(signal: AbortSignal): ToolContext {
  return {
    toolCallId: 'call_1',
    idempotencyKey: 'key',
    attempt: 1,
    signal,
    emit: async () => {},
    progress: async () => {},
  };
}

describe('fetch_page', () => {
  test('gives the text of a page with its title and its links', async () => {
    expect(await get('/page')).toEqual({
      url: `https://page.test:${server.port}/page`,
      title: 'A page',
      text: `Read more (https://page.test:${server.port}/more).`,
    });
  });

  test.each([
    ['/text', 'a  <b>\n'],
    ['/json', '{"a": 1}'],
    ['/latin', 'grüße'],
    ['/meta', 'grüße'],
    ['/martian', 'a'],
    ['/gzip', 'packed'],
    ['/br', 'packed'],
  ])('reads %s', async (path, text) => {
    expect(await get(path)).toMatchObject({ text });
  });

  test('cuts a text that is too long for a model, and says so', async () => {
    expect(await get('/large')).toMatchObject({
      text: 'a'.repeat(50_000),
      note: 'The page is longer: these are the first 50000 characters of its text.',
    });
  });

  test('stops reading and unpacking where it has enough', async () => {
    expect(await get('/endless')).toMatchObject({
      text: 'a'.repeat(50_000),
      note: expect.stringContaining('The page is longer'),
    });
  });

  test('follows five redirects to another host, and no sixth', async () => {
    expect(await get('/hop1')).toMatchObject({ url: `https://other.test:${server.port}/page`, title: 'A page' });
    await expect(get('/hop0')).rejects.toThrow(/hop0 redirects more than 5 times/);
    await expect(get('/round')).rejects.toThrow(/redirects more than 5 times/);
  });

  test.each([
    ['/missing', /answered 404 Not Found/],
    ['/empty', /answered 204/],
    ['/to-nothing', /answered 302/],
    ['/untyped', /of no known type; only text/],
    ['/image', /is image\/svg\+xml; only text/],
    ['/zstd', /packed with zstd/],
    ['/to-http', /^http:\/\/page\.test\/page does not begin with https/],
    ['/to-inner', /^inner\.test is not in the public internet/],
    ['/to-address', /^127\.0\.0\.2 is not in the public internet/],
    ['http://page.test/', /does not begin with https/],
    ['file:///etc/passwd', /does not begin with https/],
    ['https://me:secret@page.test/', /^A URL with a user name or a password/],
    ['page.test', /^"page\.test" is no URL/],
    ['https://inner.test:PORT/page', /^inner\.test is not in the public internet/],
    ['https://mixed.test:PORT/page', /^mixed\.test is not in the public internet/],
    ['https://nowhere.test/', /^nowhere\.test is not in the public internet/],
    ['https://stranger.test:PORT/page', /^stranger\.test:\d+ cannot be reached: .*altnames/],
    ['https://page.test:1/', /^page\.test:1 cannot be reached: .*ECONNREFUSED/],
  ])('refuses %s', async (path, reason) => {
    await expect(get(path)).rejects.toThrow(reason);
  });

  test.each([
    'https://localhost/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[fe80::1]/',
    'https://169.254.169.254/latest/meta-data/',
  ])('as agents have it reaches nothing at %s', async (url) => {
    await expect(get(url, fetchPage)).rejects.toThrow(/is not in the public internet/);
  });

  test('resolves a name once, and connects to the address that it has checked', async () => {
    const network = testNetwork();
    const tool = createFetchPage({ network });

    await expect(get('https://rebinding.test:PORT/page', tool)).resolves.toMatchObject({ title: 'A page' });

    expect(network.resolved).toEqual(['rebinding.test']);
    await expect(get('https://rebinding.test:PORT/page', tool)).rejects.toThrow(/is not in the public internet/);
  });

  test.each(['/silent', '/stalled'])('gives up %s after its time', async (path) => {
    const tool = createFetchPage({ network: testNetwork(), timeoutMs: 200 });

    await expect(get(path, tool)).rejects.toThrow(/took longer than 0\.2 seconds/);
  });

  test.each(['/silent', '/stalled'])('lets go of %s when its task does', async (path) => {
    const controller = new AbortController();
    arrived = () => controller.abort(new Error('cancelled'));

    await expect(get(path, undefined, controller.signal)).rejects.toThrow(/^cancelled$/);
  });
});
