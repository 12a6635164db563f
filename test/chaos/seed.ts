import { createHash } from 'node:crypto';

/** A seed for each list of parts: the same for the same list, unlike that of any other. 32 bits. */
export function seedOf(...parts: (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE(0);
}
