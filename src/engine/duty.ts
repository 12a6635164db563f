import type { Cluster, Duty } from '../store/store.ts';
import { unlessFull } from './refusal.ts';

/** Whether this process, of all that live, is the one to do something. It is asked for again and again. */
export interface DutyHolder {
  isMine(): boolean;
  /** Asks once. */
  tick(): Promise<void>;
  start(): void;
  stop(): void;
}

const ASK_EVERY_MS = 3000;
/** The store gives it for longer. */
const MINE_FOR_MS = 8000;

/** @param onFatal called when asking fails, and not for want of the database: a bug */
export function createDutyHolder(
  cluster: Pick<Cluster, 'takeDuty'>,
  duty: Duty,
  onFatal: (error: unknown) => void,
): DutyHolder {
  let mineUntil = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;

  async function tick(): Promise<void> {
    const askedAt = performance.now();
    mineUntil = (await cluster.takeDuty(duty)) ? askedAt + MINE_FOR_MS : Number.NEGATIVE_INFINITY;
  }

  function turn(): void {
    tick()
      .catch(unlessFull)
      .then(() => {
        if (timer !== null) timer = setTimeout(turn, ASK_EVERY_MS).unref();
      })
      .catch(onFatal);
  }

  return {
    isMine: () => performance.now() < mineUntil,
    tick,
    start() {
      timer = setTimeout(turn, 0).unref();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      mineUntil = Number.NEGATIVE_INFINITY;
    },
  };
}
