import type { Cluster, Duty } from '../store/cluster.ts';
import { unlessFull } from './refusal.ts';

/** Whether this process, of all that live, is the one to do something. Once begun, it is asked for again and again. */
export interface DutyHolder {
  isMine(): boolean;
  /** Asks at once, not only when it is time again. */
  ask(): void;
  stop(): void;
}

const ASK_EVERY_MS = 3000;
/** The store gives it for longer. */
const MINE_FOR_MS = 8000;

/**
 * @param onDuty called each time that it was given to this process
 * @param onFatal called when asking fails, and not for want of the database: a bug
 */
export function createDutyHolder(
  cluster: Pick<Cluster, 'takeDuty'>,
  duty: Duty,
  onDuty: () => void,
  onFatal: (error: unknown) => void,
): DutyHolder {
  let mineUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let asking = false;
  let stopped = false;

  async function tick(): Promise<void> {
    const askedAt = performance.now();
    const isMine = await cluster.takeDuty(duty);
    mineUntil = isMine ? askedAt + MINE_FOR_MS : Number.NEGATIVE_INFINITY;
    if (isMine) onDuty();
  }

  function ask(): void {
    if (asking || stopped) return;
    if (timer !== null) clearTimeout(timer);
    asking = true;
    tick()
      .catch(unlessFull)
      .then(() => {
        asking = false;
        if (!stopped) timer = setTimeout(ask, ASK_EVERY_MS).unref();
      })
      .catch(onFatal);
  }

  return {
    isMine: () => performance.now() < mineUntil,
    ask,
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      mineUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
