import type { Ending } from '../ending.ts';
import { HoldfastError } from '../error.ts';

/** A connection whose other end is gone without a word never answers. */
const ANSWER_WITHIN_MS = 30_000;
const BODY_WITHIN_MS = 120_000;

/**
 * Gives an exchange an end, whatever the network does: no answer within 30 s, or as much more as `wait` in its query
 * asks for, is a failure of the network.
 *
 * @param work calls `onAnswer` once only the body is still to come; what it throws is a failure of the network as well,
 *   unless it is a {@link HoldfastError}
 * @throws HoldfastError `aborted` with one of the endings, `unreachable`, and what `work` throws
 */
export async function exchange<T>(
  path: string,
  endings: readonly Ending[],
  work: (signal: AbortSignal, onAnswer: () => void) => Promise<T>,
): Promise<T> {
  if (endings.some(({ aborted }) => aborted)) throw aborted();
  const controller = new AbortController();
  let stop: (error: HoldfastError) => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (error) => {
      reject(error);
      controller.abort();
    };
  });
  const giveUp = () => stop(unreachable());
  const onAbort = () => stop(aborted());
  const waitSeconds = Number(/[?&]wait=(\d+)/.exec(path)?.[1] ?? 0);
  let timer = setTimeout(giveUp, ANSWER_WITHIN_MS + waitSeconds * 1000);
  for (const ending of endings) ending.addEventListener('abort', onAbort);
  try {
    const onAnswer = () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, BODY_WITHIN_MS);
    };
    return await Promise.race([stopped, work(controller.signal, onAnswer)]);
  } catch (error) {
    throw error instanceof HoldfastError ? error : unreachable(error);
  } finally {
    clearTimeout(timer);
    for (const ending of endings) ending.removeEventListener('abort', onAbort);
  }
}

function aborted(): HoldfastError {
  return new HoldfastError('aborted', 'The request was aborted.');
}

function unreachable(cause?: unknown): HoldfastError {
  return new HoldfastError('unreachable', 'The server cannot be reached.', { cause });
}
