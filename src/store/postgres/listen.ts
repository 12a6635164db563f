import { setTimeout as pause } from 'node:timers/promises';
import type { Link } from './link.ts';
import { statement } from './statement.ts';
import { CHANNEL } from './wake-up.ts';

/** What a listener is given, and whom it tells. */
export interface ListenOptions {
  /** Opens a connection that is only listened on. */
  open(onPayload: (payload: string) => void): Promise<Link>;
  /** Sends something by another connection that must come back as {@link ListenOptions.isOwn}. */
  probe(): Promise<void>;
  isOwn(payload: string): boolean;
  /** Told of each payload that is not its own. */
  onPayload(payload: string): void;
  /** It listens from now on: whatever was sent before may have been missed. */
  onListening(): void;
  /** Nothing can be heard, until it is told that it can. Once for each time. */
  onTrouble(cause: Error): void;
  /** When it looks whether it still hears, and for how long it then waits. */
  times?: { probeMs: number; echoMs: number };
}

const LISTEN = statement(`listen ${CHANNEL}`);
const TIMES = { probeMs: 10_000, echoMs: 5_000 };
const FIRST_PAUSE_MS = 100;
/** Between the tries to reach a database that is away. */
const MAX_PAUSE_MS = 2_000;
/** The same where it was reached and nothing was heard: that is how it is set up. */
const DEAF_PAUSE_MS = 60_000;

const DEAF = 'The database accepts LISTEN on this connection, but nothing is heard: is a pooler between?';

/** A pooler that gives each transaction another connection accepts `listen`, and then nothing is ever heard. */
class Deaf extends Error {
  override readonly name = 'Deaf';
}

/** Listens until it is stopped, and connects again whenever it hears nothing any more. */
export function listen(options: ListenOptions): { stop(): void } {
  const { open, probe, isOwn, onPayload, onListening, onTrouble, times: { probeMs, echoMs } = TIMES } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let isTroubled = false;
  let heardOwn = () => {};
  void run();
  return { stop: () => stopping.abort() };

  async function run(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await hear(() => {
          failures = 0;
          isTroubled = false;
        });
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        // One that is made again at once is not worth a word.
        if (!isTroubled && (failures > 1 || error instanceof Deaf)) {
          isTroubled = true;
          onTrouble(error instanceof Error ? error : new Error(String(error)));
        }
        await rest(
          error instanceof Deaf ? DEAF_PAUSE_MS : Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS),
          signal,
        );
      }
    }
  }

  /** @throws whatever ends it */
  async function hear(onHeard: () => void): Promise<void> {
    const link = await open((payload) => (isOwn(payload) ? heardOwn() : onPayload(payload)));
    const close = () => link.close();
    signal.addEventListener('abort', close);
    const over = new AbortController();
    void link.lost.then(() => over.abort());
    try {
      if (signal.aborted) return;
      await link.ask(LISTEN);
      onListening();
      if (!(await hearsOwn(over.signal)) && !over.signal.aborted) throw new Deaf(DEAF);
      while (!over.signal.aborted) {
        onHeard();
        await rest(probeMs, over.signal);
        if (!(await hearsOwn(over.signal))) break;
      }
      throw new Error('The connection for wake-ups was lost.');
    } finally {
      signal.removeEventListener('abort', close);
      link.close();
    }
  }

  /** Whether what is sent comes back, on a connection that is not lost meanwhile. */
  async function hearsOwn(over: AbortSignal): Promise<boolean> {
    const heard = new AbortController();
    heardOwn = () => heard.abort();
    await probe();
    await rest(echoMs, AbortSignal.any([over, heard.signal]));
    return heard.signal.aborted && !over.aborted;
  }
}

/** Until then, or until it is aborted. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal, ref: false }).catch(() => {});
}
