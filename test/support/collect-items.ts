import { expect } from 'vitest';
import type { LogEvent, StreamItem } from '../../src/client/event.ts';

/** What an iteration has told so far. */
export interface Collected {
  readonly items: StreamItem[];
  /** Its events alone. */
  events(): LogEvent[];
  /** Resolves once an item is `wanted`, and with it; at once if one was already. @throws what the iteration throws, or when it ends first */
  until(wanted: (item: StreamItem) => boolean): Promise<StreamItem>;
  /** Resolves when the iteration ends. @throws what it throws */
  readonly ended: Promise<void>;
}

/** Takes everything that an iteration has to tell, as fast as it comes. */
export function collect(items: AsyncIterable<StreamItem>): Collected {
  const taken: StreamItem[] = [];
  const waiting = new Set<() => void>();
  let outcome: { error: unknown } | null = null;

  async function takeAll(): Promise<void> {
    try {
      for await (const item of items) {
        taken.push(item);
        for (const look of [...waiting]) look();
      }
      outcome = { error: new Error('The iteration has ended.') };
    } catch (error) {
      outcome = { error };
      throw error;
    } finally {
      for (const look of [...waiting]) look();
    }
  }

  const ended = takeAll();
  // Whoever waits for it is told; nobody need.
  ended.catch(() => {});
  return {
    items: taken,
    events: () => taken.filter((item): item is LogEvent => item.type.includes('.')),
    ended,
    until(wanted) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = taken.find(wanted);
          if (found === undefined && outcome === null) return;
          waiting.delete(look);
          if (found === undefined) reject(outcome?.error);
          else resolve(found);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** Expects events to be just those of the log, each once and in order. A whole log would be a long failure: the first difference is told. */
export function expectTold(told: readonly LogEvent[], log: readonly object[]): void {
  // The id of one event is a cursor of a retelling in one place and a plain one in another.
  const lines = (events: readonly object[]) => events.map((event) => JSON.stringify({ ...event, id: undefined }));
  const [is, wanted] = [lines(told), lines(log)];
  const at = is.findIndex((line, index) => line !== wanted[index]);
  const first = at < 0 ? null : { at, is: is[at], wanted: wanted[at] };
  expect({ count: is.length, first }).toEqual({ count: wanted.length, first: null });
}
