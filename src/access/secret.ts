import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;

/** What a secret is for; it begins so, for people and for the programs that look for leaked ones. */
export type SecretPrefix = 'hf_token_' | 'hf_ticket_' | 'hf_session_';

/** 256 random bits as text, to be shown once. */
export function newSecret(prefix: SecretPrefix): string {
  return prefix + randomBytes(BYTES).toString('base64url');
}

/** What is kept of a secret. It holds 256 random bits: nothing slower than SHA-256 would make it harder to guess. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
