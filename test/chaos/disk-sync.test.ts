import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { diceOf } from '../support/dice.ts';
import { newDirectory } from '../support/store-directory.ts';
import { type CodeCopy, copyCode } from './failpoint-copy.ts';
import { type CopyServer, startCopy } from './failpoint-server.ts';
import { heardIn, POWER_CUT_AGENTS } from './power-cut.ts';
import { cursorFault, readKept } from './power-cut-check.ts';
import { Clients } from './power-cut-client.ts';
import { buildShim, failNextSync, type Shim } from './power-cut-shim.ts';
import { readTrace, traceBytes, writeImage } from './power-cut-trace.ts';

const mustRun = process.env.CI === 'true';
const NO_SHIM = 'A sync is made to fail on Linux, with gcc.';
const seed = Number(process.env.SEED ?? Date.now() % 100_000);
/** So much is told before, so that everything is under way. */
const BEGINNING = 40;
/** On a machine that has other things to do; a quiet one takes a tenth of it. */
const TEST_MS = 180_000;

/** docs/decisions/002-on-disk-before-seen.md: what a failed sync was to write, no later one writes. */
describe(`A sync that fails with EIO (SEED=${seed})`, () => {
  let shim: Shim | null = null;
  let copy: CodeCopy;
  beforeAll(() => {
    shim = buildShim();
    copy = copyCode([POWER_CUT_AGENTS]);
  });
  afterAll(() => copy.remove());
  const running: CopyServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.kill()));
  });

  /** With its trace beside its data. */
  function start(dataDir: string): CopyServer {
    if (shim === null) throw new Error(NO_SHIM);
    mkdirSync(dataDir, { recursive: true });
    const server = startCopy(copy, { dataDir, agents: POWER_CUT_AGENTS, env: shim.env(dataDir, traceOf(dataDir)) });
    running.push(server);
    return server;
  }

  test.for([
    ['of a commit', '.db-wal'],
    ['of a checkpoint', '.db'],
  ] as const)(
    '%s ends the process with 1, and nobody was told what is not on the disk',
    { timeout: TEST_MS },
    async ([, suffix], { skip }) => {
      if (shim === null && !mustRun) return skip(NO_SHIM);
      const dataDir = path.join(newDirectory(), 'data');
      const trace = traceOf(dataDir);
      const left = `${dataDir}-left`;
      const dice = diceOf(seed);
      const clients = new Clients(dice);
      const server = start(dataDir);

      const using = clients.use(await server.url, () => traceBytes(trace));
      await clients.haveBeenTold(BEGINNING);
      failNextSync(trace, suffix);
      const end = await server.exited;
      await using;
      const told = [...clients.told, ...heardIn(trace, 0)];
      const history = readTrace(trace, new Map(), dice);
      writeImage(left, history.cutAt(history.bytes, 'nothing'));
      const { log, isTrue } = await readKept(left);
      const newest = told.findLast((fact) => fact.kind === 'event');
      const fault = newest && (await cursorFault(await start(left).url, newest, log));

      expect(end).toEqual({ code: 1, signal: null });
      expect(server.stderr()).toContain('storage_failed');
      expect(history.failedSyncs).toBe(1);
      expect(told.length).toBeGreaterThanOrEqual(BEGINNING);
      expect(told.filter((fact) => !isTrue(fact))).toEqual([]);
      expect(fault).toBeNull();
    },
  );

  test('at the start ends the process with 1 before it serves', async ({ skip }) => {
    if (shim === null && !mustRun) return skip(NO_SHIM);
    const dataDir = path.join(newDirectory(), 'data');

    failNextSync(traceOf(dataDir), '.db');
    const server = start(dataDir);

    await expect(server.url).rejects.toThrow('ended with 1');
    expect(server.stderr()).toMatch(/^error: .*\n$/);
  });
});

function traceOf(dataDir: string): string {
  return `${dataDir}-trace`;
}
