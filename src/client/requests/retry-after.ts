import { HoldfastError } from '../error.ts';

const known = new WeakMap<HoldfastError, number>();

/** @param header seconds or a date; null sets nothing, and neither does anything else */
export function setRetryAfter(error: HoldfastError, header: string | null): void {
  if (header === null) return;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  if (ms > 0) known.set(error, ms);
}

/** For how long whoever sent this error asks to be left alone; 0 when it does not. */
export function retryAfterMs(error: unknown): number {
  return error instanceof HoldfastError ? (known.get(error) ?? 0) : 0;
}
