import { onTestFinished } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from '../support/server-process.ts';

/** A server on a database that others may be on, too. */
export interface TestNode {
  server: ServerProcess;
  api: Api;
}

/** Starts a node, which ends with the test. @param database its URL */
export async function startNode(database: string, options: ServerProcessOptions = {}): Promise<TestNode> {
  const server = await startServerProcess({ ...options, database });
  onTestFinished(() => server.kill());
  return { server, api: createApi(server.url) };
}

/** Waits until something holds, as seen from outside, and for no longer than `mostMs`. @returns how long it took, in ms */
export async function until(what: string, mostMs: number, holds: () => Promise<boolean> | boolean): Promise<number> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > mostMs) throw new Error(`Not within ${mostMs} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return performance.now() - begun;
}
