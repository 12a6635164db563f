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
