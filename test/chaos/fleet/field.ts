import type { Dice } from '../../support/dice.ts';
import type { History } from '../history.ts';

/** What the clients of a round have in common. */
export interface Field {
  /** The same through all restarts. */
  url: string;
  history: History;
  /** Aborts when the faults are over: from then on nobody is slow, and every question is answered. */
  calm: AbortSignal;
  /** Aborts when the clients are to leave. */
  over: AbortSignal;
  /** By the round's seed, for the client of this name. */
  diceFor(client: string): Dice;
}

/** No reply within this time is taken for none. */
export const PATIENCE_MS = 5000;

/** A signal that aborts when the clients are to leave, and after so much time. */
export function within({ over }: Field, ms: number): AbortSignal {
  return AbortSignal.any([over, AbortSignal.timeout(ms)]);
}

/** The JSON of a read; null when there was no good answer, as while the server is down. */
export async function read<Body>(field: Field, path: string): Promise<Body | null> {
  try {
    const response = await fetch(`${field.url}${path}`, {
      headers: { Accept: 'application/json' },
      signal: within(field, PATIENCE_MS),
    });
    if (response.status === 200) return (await response.json()) as Body;
    await response.body?.cancel();
    return null;
  } catch {
    return null;
  }
}
