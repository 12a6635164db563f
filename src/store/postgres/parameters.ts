import type { PostgresType } from 'postgres';

// Numbers that PostgreSQL has for types.
const BIGINT = 20;
const TEXTS = 1009;
const BIGINTS = 1016;

/** How parameters are written, and what comes back is read, where it is not as text. */
export const PARAMETERS: Record<string, PostgresType> = {
  bigint: { to: BIGINT, from: [BIGINT], serialize: String, parse: Number },
  texts: {
    to: TEXTS,
    from: [],
    serialize: (texts: readonly (string | null)[]) => `{${texts.map(quoted).join(',')}}`,
    parse: String,
  },
  bigints: {
    to: BIGINTS,
    from: [],
    serialize: (numbers: readonly (number | null)[]) => `{${numbers.map((each) => each ?? 'null').join(',')}}`,
    parse: String,
  },
};

function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
