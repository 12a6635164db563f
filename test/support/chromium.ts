import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
} from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished, type TestContext, test } from 'vitest';

/** One real browser for a group of tests. */
export interface Chromium {
  /** A profile of its own, as of another device, for the time of the test; a concurrent one says which that is. */
  newContext(options?: BrowserContextOptions, onFinished?: TestContext['onTestFinished']): Promise<BrowserContext>;
}

/** One whose tabs live as people's tabs do. */
export interface ChromiumWithTabs {
  /** The only profile, without a page in it. All its pages are closed after the test. */
  emptyProfile(): Promise<BrowserContext>;
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const FOLDERS = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/bin'];
const ON_MACOS = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const MISSING =
  'No Chromium was found, neither by CHROMIUM_PATH nor as chromium, chromium-browser or google-chrome. ' +
  '`.ci/install-browser.sh` installs one on Debian and Ubuntu.';
/** Twice as long is within what a hook may take. */
const CONNECT_MS = 20_000;
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage'];

/** Tests in a real Chromium. Without one they are skipped, and fail with CI=true. */
export function describeInChromium(
  name: string,
  tests: (chromium: Chromium) => void,
  options: Pick<LaunchOptions, 'args' | 'ignoreDefaultArgs'> = {},
): void {
  describeWhereItIs(name, (executablePath) => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ ...options, executablePath, args: [...FLAGS, ...(options.args ?? [])] });
    });
    afterAll(() => browser.close());

    tests({
      async newContext(contextOptions = {}, onFinished = onTestFinished) {
        const context = await browser.newContext(contextOptions);
        onFinished(() => context.close());
        return context;
      },
    });
  });
}

/**
 * The same in a Chromium that is left as people use it. What others start for tests makes every tab look as if it were in
 * front: none is ever hidden, slowed down or frozen.
 */
export function describeInTabs(name: string, tests: (chromium: ChromiumWithTabs) => void): void {
  describeWhereItIs(name, (executablePath) => {
    let browser: Browser;
    let quit: () => Promise<void>;
    beforeAll(async () => {
      const profile = mkdtempSync(path.join(tmpdir(), 'holdfast-chromium-'));
      const flags = [
        ...FLAGS,
        '--headless',
        '--remote-debugging-port=0',
        `--user-data-dir=${profile}`,
        '--no-first-run',
      ];
      const start = async () => {
        const started = spawn(executablePath, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
        try {
          const address = await firstAddress(started);
          browser = await chromium.connectOverCDP(address, { noDefaults: true, timeout: CONNECT_MS });
          return started;
        } catch (error) {
          started.kill('SIGKILL');
          throw error;
        }
      };
      // On a busy machine one in some hundred takes the connection and then says nothing.
      const child = await start().catch(start);
      quit = async () => {
        const exited = once(child, 'exit');
        await (await browser.newBrowserCDPSession()).send('Browser.close').catch(() => {});
        await exited;
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      };
    });
    afterAll(() => quit());

    tests({
      async emptyProfile() {
        const [context] = browser.contexts();
        if (context === undefined) throw new Error('This Chromium has no profile.');
        const [first = await context.newPage(), ...others] = context.pages();
        await Promise.all(others.map((page) => page.close()));
        onTestFinished(async () => {
          // The last one is kept: without any, a browser ends.
          await context.newPage();
          await Promise.all(
            context
              .pages()
              .slice(0, -1)
              .map((page) => page.close()),
          );
        });
        await first.goto('about:blank');
        return context;
      },
    });
  });
}

function describeWhereItIs(name: string, tests: (executablePath: string) => void): void {
  const executablePath = findChromium();
  if (executablePath === null && process.env.CI === 'true') {
    describe(name, () => {
      test('needs a Chromium', () => {
        throw new Error(MISSING);
      });
    });
    return;
  }
  if (executablePath === null) process.stderr.write(`Skipped: "${name}". ${MISSING}\n`);
  describe.skipIf(executablePath === null)(name, () => tests(executablePath ?? ''));
}

/** Where it says that it listens for those who steer it. */
function firstAddress({ stderr }: { stderr: NodeJS.ReadableStream }): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    stderr.setEncoding('utf8').on('data', (text) => {
      said += text;
      const address = /ws:\/\/\S+/.exec(said)?.[0];
      if (address !== undefined) resolve(address);
    });
    stderr.on('end', () => reject(new Error(`Chromium ended before it listened.\n${said}`)));
  });
}

function findChromium(): string | null {
  const asked = process.env.CHROMIUM_PATH ?? '';
  if (asked !== '') return asked;
  const known = [...NAMES.flatMap((name) => FOLDERS.map((folder) => path.join(folder, name))), ON_MACOS];
  return known.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
