import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a thread holds in its heap, with the room in it, and outside, in Buffers and the like. */
export interface ThreadMemory {
  bytes: number;
  /** Whether what it uses of that is more than it may. */
  isFull: boolean;
}

/** A thread that is close to its bound is not made to collect its garbage all the time. */
const COLLECT_EVERY_MS = 5000;

/**
 * Makes what measures this thread. Garbage does not make it full: where that might be, it is collected first.
 *
 * @param boundBytes how much it may hold, heap and Buffers together
 */
export function createMemoryGauge(boundBytes: number): (now: number) => ThreadMemory {
  let collectedAt = Number.NEGATIVE_INFINITY;
  let collect: (() => void) | null = null;

  return (now) => {
    let isFull = usedBytes() > boundBytes;
    if (isFull && now - collectedAt < COLLECT_EVERY_MS) isFull = false;
    else if (isFull) {
      collectedAt = now;
      collect ??= garbageCollector();
      collect();
      isFull = usedBytes() > boundBytes;
    }
    const { total_heap_size, external_memory } = getHeapStatistics();
    return { bytes: total_heap_size + external_memory, isFull };
  };
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** `gc` is there only in contexts that are made while the flag is set. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return collect;
}
