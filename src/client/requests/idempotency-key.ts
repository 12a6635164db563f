/**
 * A key that no other request has. `crypto.randomUUID` is missing where the origin is not secure, and all of `crypto` in
 * React Native.
 */
export function newIdempotencyKey(): string {
  const bytes = Uint8Array.from({ length: 16 }, () => Math.random() * 256);
  globalThis.crypto?.getRandomValues?.(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
