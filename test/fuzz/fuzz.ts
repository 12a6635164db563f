import { aftermath, restOf } from './aftermath.ts';
import { casesOf } from './cases.ts';
import { type Auth, type Held, startFuzzedServer } from './fuzzed-server.ts';
import { type Fault, Fuzzing } from './fuzzing.ts';
import type { ApiDocument } from './operation-requests.ts';

export interface FuzzOptions {
  requests: number;
  seed: number;
  auth?: Auth;
  /** Told after each case how many requests were sent. */
  onProgress?(sent: number): void;
}

export interface FuzzReport {
  requests: number;
  /** Of each operation and flow what became of its requests, by status or what else it was. */
  outcomes: Record<string, Record<string, number>>;
  slowestMs: number;
  faults: Fault[];
  /** Of the server at rest, after a quarter of the requests and after all of them. */
  before: Held;
  after: Held;
}

/** Part of the requests after which the server is warm: what it holds then is what it is to come back to. */
const WARM_PART = 1 / 4;
/** Before so many requests what threads and allocators keep has not come to its size. */
const WARM_AFTER = 10_000;

/** Sends requests of all kinds to a server of its own, and judges every answer, and what is left when all is over. */
export async function fuzz({ requests, seed, auth = 'none', onProgress = () => {} }: FuzzOptions): Promise<FuzzReport> {
  const server = await startFuzzedServer(auth);
  try {
    const response = await fetch(`${server.url}/openapi.json`, { headers: server.ownHeaders });
    const cases = casesOf((await response.json()) as ApiDocument, seed);
    const fuzzing = new Fuzzing(server.url, server.ownHeaders);
    const tell = () => onProgress(fuzzing.sent);

    await fuzzing.send(cases, requests * WARM_PART, tell);
    await fuzzing.rest();
    const before = await restOf(server);
    await fuzzing.send(cases, requests, tell);
    await fuzzing.rest();
    const { faults, held } = await aftermath(server, before, requests * WARM_PART >= WARM_AFTER);

    const code = await server.stop();
    if (code !== 0) faults.push({ what: `the server ended with ${code}`, request: '' });
    if (server.stderr() !== '') faults.push({ what: 'the server complained', request: server.stderr().slice(0, 5000) });
    const { sent, slowestMs, outcomes } = fuzzing;
    return {
      requests: sent,
      outcomes,
      slowestMs,
      faults: [...fuzzing.faults, ...faults],
      before: before.held,
      after: held,
    };
  } catch (error) {
    throw new Error(`${error}\nThe server had said: ${server.stderr()}`, { cause: error });
  } finally {
    await server.stop();
  }
}
