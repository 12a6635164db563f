import { createHash } from 'node:crypto';

/** A number 0 ≤ x < 1 that is the same for the same arguments. */
export function seededRandom(seed: string, name: string, n: number): number {
  return Number(digest('random', seed, name, n).readBigUInt64BE() >> 11n) / 2 ** 53;
}

/** A UUID of version 4 that is the same for the same arguments. */
export function seededUuid(seed: string, name: string, n: number): string {
  const bytes = digest('uuid', seed, name, n);
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x40;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** What a step gives to others so that they recognise a repetition: 32 hexadecimal digits. */
export function idempotencyKey(seed: string, key: string): string {
  return digest('step', seed, key).toString('hex', 0, 16);
}

function digest(...parts: (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}
