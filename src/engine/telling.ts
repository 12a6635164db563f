import type { Lease } from '../model/fence.ts';
import type { Command, Told } from '../worker/protocol.ts';

/**
 * Gathers what copies are to be told of one commit, so that each is told in two commands at most: what was resolved, and
 * then up to where its reports are on disk.
 */
export interface Telling {
  resolved(copy: Lease, told: Told): void;
  acknowledged(copy: Lease, n: number): void;
  /** Tells a copy what has gathered for it: to be called before any other command to it. */
  tell(taskId: string): void;
  tellAll(): void;
}

export function createTelling(send: (command: Command) => void): Telling {
  const news = new Map<string, { fence: number; resolutions: Told[]; n: number | null }>();

  function newsFor({ taskId, fence }: Lease) {
    const known = news.get(taskId) ?? { fence, resolutions: [], n: null };
    news.set(taskId, known);
    return known;
  }

  function tell(taskId: string): void {
    const known = news.get(taskId);
    if (known === undefined) return;
    news.delete(taskId);
    const { fence, resolutions, n } = known;
    if (resolutions.length > 0) send({ kind: 'resolve', taskId, fence, resolutions });
    if (n !== null) send({ kind: 'ack', taskId, fence, n });
  }

  return {
    resolved: (copy, told) => void newsFor(copy).resolutions.push(told),
    acknowledged(copy, n) {
      newsFor(copy).n = n;
    },
    tell,
    tellAll() {
      for (const taskId of [...news.keys()]) tell(taskId);
    },
  };
}
