import { inspect } from 'node:util';

/** What to tell of anything that was thrown, an `Error` or not. Never throws, whatever the thing does when it is read. */
export function errorMessage(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown;
    if (typeof thrown !== 'object' || thrown === null || !('message' in thrown)) return inspect(thrown, { depth: 1 });
    return String(thrown.message) || String('name' in thrown ? thrown.name : 'Error');
  } catch {
    return 'Something was thrown that cannot be described.';
  }
}

const MAX_STACK_LENGTH = 8192;

/** Where something was thrown, as far as it says; for logs alone. Never throws. */
export function errorStack(thrown: unknown): string {
  try {
    const stack = typeof thrown === 'object' && thrown !== null && 'stack' in thrown ? thrown.stack : undefined;
    return (typeof stack === 'string' ? stack : errorMessage(thrown)).slice(0, MAX_STACK_LENGTH);
  } catch {
    return errorMessage(thrown);
  }
}
