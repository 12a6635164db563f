/** What an id names, by its prefix. @see docs/protocol.md §2 */
export type IdPrefix = 'task' | 'conv' | 'msg' | 'qst' | 'tok';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID = /^(task|conv|msg|qst|tok)_[0-9a-hjkmnp-tv-z]{26}$/;

/**
 * Writes an id as `<prefix>_<26 characters of Crockford base32, lower case>`.
 *
 * @param uuid the 16 bytes of a UUIDv7, so that ids made later sort later
 */
export function formatId(prefix: IdPrefix, uuid: Uint8Array): string {
  let bits = 0n;
  for (const byte of uuid) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = ALPHABET[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return `${prefix}_${text}`;
}

/** Whether `text` has the form of an id with this prefix; says nothing about whether it exists. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return ID.test(text) && text.startsWith(`${prefix}_`);
}
