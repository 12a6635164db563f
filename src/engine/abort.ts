/**
 * Calls back once, as soon as one of the signals is aborted; in a microtask if one is already. Not `AbortSignal.any`, which
 * holds on to what it made as long as its longest-lived source lives.
 *
 * @returns stops listening
 */
export function onAbort(signals: readonly AbortSignal[], callback: () => void): () => void {
  const stop = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  const abort = () => {
    stop();
    callback();
  };
  for (const signal of signals) signal.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) queueMicrotask(abort);
  return stop;
}
