import type { BrowserContext, Page } from 'playwright-core';

/** Where an attack goes. */
interface Target {
  server: string;
  /** Of the form, for those that send one. */
  type: string;
}

/** What a page of somebody else tries. */
export interface Attack {
  name: string;
  type?: string;
  /** How its requests are answered, whatever the page may learn of that; sorted. */
  answers: string[];
  /** Runs in the page by itself, without anything of this file. Gives what it has read, null for nothing. */
  run(target: Target): Promise<string | null>;
}

export const ATTACKS: Attack[] = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'].map((type) => ({
    name: `posts a form as ${type}`,
    type,
    answers: ['POST /v1/conversations 403', 'POST /v1/tasks 403'],
    run: postForm,
  })),
  {
    name: 'sends by fetch, without reading the answer',
    answers: ['GET /v1/tasks 403', 'POST /v1/conversations 403', 'POST /v1/tasks 403'],
    run: sendBlindly,
  },
  { name: 'sends by a beacon', answers: ['POST /v1/conversations 403'], run: sendBeacon },
  {
    name: 'takes the API for pictures, scripts and styles',
    answers: ['GET /v1/conversations 403', 'GET /v1/questions 403', 'GET /v1/tasks 403'],
    run: embed,
  },
  { name: 'reads by fetch', answers: ['GET /v1/tasks 403', 'GET /v1/tasks 403'], run: read },
  {
    name: 'reads streams',
    answers: ['GET /v1/events?after=0 403', 'GET /v1/events?after=0 403'],
    run: readStreams,
  },
];

/** Opens a page of another origin. */
export async function openForeignPage(context: BrowserContext, origin: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  return page;
}

async function postForm({ server, type }: Target): Promise<string | null> {
  for (const path of ['/v1/tasks', '/v1/conversations']) {
    const target = path.slice(4);
    document.body.appendChild(Object.assign(document.createElement('iframe'), { name: target }));
    const form = Object.assign(document.createElement('form'), { method: 'post', enctype: type, target });
    form.action = `${server}${path}`;
    // As text/plain this is JSON: the equals sign comes into the text.
    const json = { name: '{"agent":"ticker","input":{"count":1},"metadata":{"x":"', value: '"}}' };
    form.appendChild(Object.assign(document.createElement('input'), json));
    document.body.appendChild(form).submit();
  }
  return null;
}

async function sendBlindly({ server }: Target): Promise<string | null> {
  const init = { method: 'POST', mode: 'no-cors', credentials: 'include' } as const;
  const body = '{"agent":"ticker","input":{"count":1}}';
  const all = await Promise.allSettled([
    fetch(`${server}/v1/tasks`, { ...init, body }),
    fetch(`${server}/v1/conversations`, init),
    fetch(`${server}/v1/tasks`, { mode: 'no-cors', credentials: 'include' }),
  ]);
  // An answer that the page may not even have as a closed box.
  return all.some(({ status }) => status === 'fulfilled') ? 'answered' : null;
}

async function sendBeacon({ server }: Target): Promise<string | null> {
  return navigator.sendBeacon(`${server}/v1/conversations`, '{}') ? null : 'not sent';
}

async function embed({ server }: Target): Promise<string | null> {
  const picture = Object.assign(document.createElement('img'), { src: `${server}/v1/tasks` });
  const script = Object.assign(document.createElement('script'), { src: `${server}/v1/conversations` });
  const style = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: `${server}/v1/questions` });
  const outcomes = [picture, script, style].map(
    (element) =>
      new Promise<string[]>((resolve) => {
        element.addEventListener('load', () => resolve([element.tagName]));
        element.addEventListener('error', () => resolve([]));
        document.body.appendChild(element);
      }),
  );
  return (await Promise.all(outcomes)).flat().join(' ') || null;
}

async function read({ server }: Target): Promise<string | null> {
  const found: string[] = [];
  for (const credentials of ['omit', 'include'] as const) {
    const text = fetch(`${server}/v1/tasks`, { credentials }).then((response) => response.text());
    found.push(...(await text.then((body) => [body]).catch(() => [])));
  }
  return found.join(' ') || null;
}

async function readStreams({ server }: Target): Promise<string | null> {
  const found: string[] = [];
  for (const withCredentials of [false, true]) {
    const source = new EventSource(`${server}/v1/events?after=0`, { withCredentials });
    await new Promise((resolve) => {
      source.onerror = resolve;
      source.onopen = resolve;
    });
    if (source.readyState !== EventSource.CLOSED) found.push('opened');
    source.close();
  }
  return found.join(' ') || null;
}
