import type { HttpContext } from './operation.ts';

/**
 * Runs what waits, with a signal that says when its client has gone. That of the request is not enough: of those that are
 * pipelined on one connection Node tells only the first.
 */
export async function whileConnected<T>(c: HttpContext, wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  const { signal } = c.req.raw;
  const socket = c.env?.incoming?.socket;
  signal.addEventListener('abort', leave);
  socket?.once('close', leave);
  if (signal.aborted || socket?.destroyed) leave();
  try {
    return await wait(gone.signal);
  } finally {
    signal.removeEventListener('abort', leave);
    socket?.off('close', leave);
  }
}
