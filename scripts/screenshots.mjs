/**
 * Takes the pictures in `docs/screenshots` of a console that has something to show: each screen light and dark, on a
 * phone and on a desktop. `CHROMIUM` names the browser, `/usr/bin/chromium` unless it is given.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import './build-web.mjs';

const root = path.dirname(import.meta.dirname);
const target = path.join(root, 'docs/screenshots');
const data = mkdtempSync(path.join(tmpdir(), 'holdfast-screenshots-'));
const MAX_BYTES = 120 * 1024;
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const AGENTS = ['scripts/screenshot-agents.ts', 'examples/agents.ts', 'examples/party-planner.ts'];

const server = serve('open', ...AGENTS.flatMap((file) => ['--agents', file]));
const guarded = serve('guarded', '--auth', 'token');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const url = await addressOf(server);
  const screens = await fill(url);
  const signIn = await addressOf(guarded);
  mkdirSync(target, { recursive: true });
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const scheme of /** @type {const} */ (['light', 'dark'])) {
      for (const [screen, hash] of Object.entries(screens)) {
        await take(`${url}/${hash}`, `${screen}-${scheme}-${size}.png`, { viewport, colorScheme: scheme });
      }
      await take(signIn, `sign-in-${scheme}-${size}.png`, { viewport, colorScheme: scheme });
    }
  }
} finally {
  await browser.close();
  for (const each of [server, guarded]) {
    each.kill('SIGTERM');
    await once(each, 'exit');
  }
  rmSync(data, { recursive: true });
}

/**
 * @param {string} name of its data
 * @param {string[]} flags
 */
function serve(name, ...flags) {
  return spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--port', '0', '--log-level', 'warn'].concat(
      ['--data', path.join(data, name)],
      flags,
    ),
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  );
}

/** @param {import('node:child_process').ChildProcess} process_ */
async function addressOf(process_) {
  let text = '';
  for await (const chunk of process_.stdout ?? []) {
    text += chunk;
    const found = / serves (http:\S+)/.exec(text);
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error('The server ended before it served.');
}

/**
 * Makes something to show of everything.
 *
 * @param {string} url
 * @returns {Promise<{ [screen: string]: string }>} each screen's address behind the `#`
 */
async function fill(url) {
  const post = async (/** @type {string} */ route, /** @type {object} */ body) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/${route}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return JSON.parse(await response.text());
  };
  const settled = async (/** @type {{ id: string }} */ { id }) => {
    const response = await fetch(`${url}/v1/tasks/${id}?wait=30`);
    return JSON.parse(await response.text());
  };
  const talk = async (/** @type {string} */ title, /** @type {string[]} */ ...messages) => {
    const { id } = await post('conversations', { title });
    for (const content of messages) {
      const { task } = await post(`conversations/${id}/messages`, { content });
      await settled(task);
    }
    return id;
  };
  const answer = async (/** @type {string} */ conversationId, /** @type {string} */ value) => {
    const response = await fetch(`${url}/v1/questions?status=pending&conversationId=${conversationId}`);
    const [question] = JSON.parse(await response.text()).items;
    await post(`questions/${question.id}/answers`, { answer: value });
    await settled({ id: question.taskId });
  };

  await answer(await talk('Budget for the spring fair', 'What is a weekend in Ghent like?'), 'May');
  const asking = await talk('A weekend in Porto', 'Plan me a weekend in Porto');
  const told = await talk('From Lisbon to Rome', 'Plan me a weekend in Lisbon', 'Make that Rome, please');
  await answer(told, 'September');

  await settled(await post('tasks', { agent: 'party-planner', input: { guests: ['Ada', 'Grace'] } }));
  await settled(await post('tasks', { agent: 'invoice-export' }));
  const report = await post('tasks', { agent: 'nightly-report', input: { day: '2026-12-01' } });
  await post('tasks', { agent: 'offsite-planner' });
  for (let { status } = report; status !== 'completed'; { status } = await settled(report)) await delay(100);
  await settled(await post('tasks', { agent: 'trip-planner', input: { city: 'Oslo' } }));
  return {
    start: '#/conversations/new',
    conversation: `#/conversations/${told}`,
    question: `#/conversations/${asking}`,
    inbox: '#/inbox',
    tasks: '#/tasks',
    task: `#/tasks/${report.id}`,
  };
}

/**
 * @param {string} address
 * @param {string} name
 * @param {{ viewport: { width: number, height: number }, colorScheme: 'light' | 'dark' }} look
 */
async function take(address, name, look) {
  const isPhone = look.viewport.width < 500;
  const context = await browser.newContext({ ...look, hasTouch: isPhone, isMobile: isPhone, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(address);
  await page.locator('main h1').waitFor();
  // All of it has come once nothing is read any more, and what is faded in has been.
  while ((await page.locator('.loading').count()) > 0) await delay(50);
  await delay(700);
  const file = path.join(target, name);
  await page.screenshot({ path: file, animations: 'disabled' });
  await context.close();
  const { size } = statSync(file);
  if (size > MAX_BYTES) throw new Error(`${name} has ${size} bytes; a picture has at most ${MAX_BYTES}.`);
}
