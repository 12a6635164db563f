import fc from 'fast-check';

/** JSON Schema as the server's own document writes it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

/** JSON as text: what is odd in it often has no value that `JSON.stringify` could write. */
export type JsonText = fc.Arbitrary<string>;

const ODD_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  'hasOwnProperty',
  'ünknown',
  'a'.repeat(300),
];

/** Strings that trouble parsers, databases, logs, terminals and pages. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      '\0',
      'a\0b',
      '\r\nX-Injected: 1\r\n\r\n',
      '\n\ndata: {"seq":1}\nid: 0\n\n',
      '\u2028\u2029\u0085',
      '\ufeff',
      '\u202egnp.exe',
      '👩‍👩‍👧‍👦',
      '\u0301'.repeat(50),
      '<script>alert(1)</script>',
      "'; DROP TABLE task; --",
      '%00%0d%0a',
      '../../../etc/passwd',
      '{{7*7}}<%= 7*7 %>',
      '(a+)+$',
      'null',
      'NaN',
      '-0',
      '1e309',
      '\x1b[2J\x1b]0;x\x07',
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 1010 }).map((length) => 'x'.repeat(length)) },
);

const stringText: JsonText = fc.oneof(
  { weight: 8, arbitrary: oddText.map((text) => JSON.stringify(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"\\ud800"',
      '"a\\udfffb"',
      '"\\ud83d\\ude00"',
      '"\\u0000"',
      '"\\/\\b\\f"',
      '"\\ude00\\ud83d"',
    ),
  },
);

const numberText: JsonText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '-0.0',
    '1e999',
    '-1E+400',
    '1e-400',
    '9007199254740993',
    '12345678901234567890',
    '2147483648',
    '-9223372036854775809',
    '0.1e1',
    '4.9e-324',
  ),
);

const leafText: JsonText = fc.oneof(stringText, numberText, fc.constantFrom('null', 'true', 'false', '[]', '{}'));

function objectText(key: fc.Arbitrary<string>, value: JsonText): JsonText {
  // Keys may come twice.
  return fc
    .array(fc.tuple(key, value), { maxLength: 4 })
    .map((entries) => `{${entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`);
}

const oddKey = fc.oneof(fc.constantFrom(...ODD_KEYS), fc.string({ maxLength: 6 }));
const shallow: JsonText = fc.oneof(
  { weight: 3, arbitrary: leafText },
  { weight: 1, arbitrary: fc.array(leafText, { maxLength: 4 }).map((items) => `[${items.join(', ')}]`) },
  { weight: 1, arbitrary: objectText(oddKey, leafText) },
);

/** Nests about as deep as is allowed, and much deeper. */
const nested: JsonText = fc
  .tuple(fc.constantFrom(20, 29, 30, 31, 32, 33, 40, 2000), fc.boolean())
  .map(([depth, isArray]) =>
    isArray ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );

const large: JsonText = fc
  .constantFrom(15_000, 16_370, 16_384, 65_500, 65_540, 100_000, 261_900, 262_144, 300_000)
  .map((length) => `"${'y'.repeat(length)}"`);

export const anyJsonText: JsonText = fc.oneof(
  { weight: 10, arbitrary: shallow },
  { weight: 4, arbitrary: objectText(oddKey, shallow) },
  { weight: 1, arbitrary: nested },
  { weight: 1, arbitrary: large },
);

/** Values for the names that mean something to the server, in place of what their schema says alone. */
export type Hints = Record<string, JsonText>;

/**
 * JSON that a schema allows or just does not: values at its bounds and past them, fields that lack, fields too many, and
 * fields twice.
 *
 * @param schemas those that `$ref` names
 */
export function jsonTextOf(schema: Schema, schemas: Record<string, Schema>, hints: Hints): JsonText {
  const { $ref, anyOf, oneOf, allOf } = schema;
  const of = (inner: Schema) => jsonTextOf(inner, schemas, hints);
  if ($ref !== undefined) return of(schemas[$ref.split('/').at(-1) ?? ''] ?? {});
  const choices = anyOf ?? oneOf ?? allOf;
  if (choices !== undefined) return fc.oneof(...choices.map(of));
  if (schema.const !== undefined) return fc.constant(JSON.stringify(schema.const));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map((value) => JSON.stringify(value)));
  const [type = 'any'] = [schema.type ?? 'any'].flat();
  const fitting = FITTING[type]?.(schema, of, hints) ?? anyJsonText;
  return fc.oneof({ weight: 40, arbitrary: fitting }, { weight: 1, arbitrary: shallow });
}

const FITTING: Record<string, (schema: Schema, of: (schema: Schema) => JsonText, hints: Hints) => JsonText> = {
  string: ({ minLength, maxLength }) => {
    const bounds = [minLength, maxLength].filter((bound) => bound !== undefined);
    const lengths = bounds.flatMap((bound) => [bound - 1, bound, bound + 1]).filter((length) => length >= 0);
    const atBounds = lengths.map((length) => JSON.stringify('z'.repeat(length)));
    return atBounds.length === 0
      ? stringText
      : fc.oneof({ weight: 3, arbitrary: stringText }, fc.constantFrom(...atBounds));
  },
  number: numberOf,
  integer: numberOf,
  boolean: () => fc.constantFrom('true', 'false'),
  null: () => fc.constant('null'),
  array: ({ items = {} }, of) => fc.array(of(items), { maxLength: 4 }).map((texts) => `[${texts.join(',')}]`),
  object({ properties, required = [] }, of, hints) {
    if (properties === undefined) return objectText(oddKey, shallow);
    const fields = Object.entries(properties).map(([name, schema]) => {
      const text = (hints[name] ?? of(schema)).map((value) => `${JSON.stringify(name)}:${value}`);
      // What has a meaning is there half of the time, since too much at once only meets at the first thing that is wrong.
      const [below, outOf] = required.includes(name) ? [39, 40] : name in hints ? [1, 2] : [1, 5];
      return fc.tuple(fc.nat(outOf - 1), text).map(([chance, field]) => (chance < below ? field : null));
    });
    const extra = fc.tuple(oddKey, shallow).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
    return fc.tuple(fc.tuple(...fields), extra, fc.nat(40)).map(([own, more, chance]) => {
      const present = own.filter((field) => field !== null);
      const last = chance === 0 ? present.slice(0, 1) : chance === 1 ? [more] : [];
      return `{${[...present, ...last].join(',')}}`;
    });
  },
};

function numberOf({ minimum, maximum }: Schema): JsonText {
  const bounds = [minimum, maximum].filter((bound) => bound !== undefined && Math.abs(bound) < 2 ** 53);
  const near = bounds.flatMap((bound = 0) => [bound - 1, bound, bound + 1, bound + 0.5]).map(String);
  const fair = fc.integer({ min: Math.max(0, minimum ?? 0), max: Math.min(maximum ?? 100_000, 100_000) }).map(String);
  return fc.oneof({ weight: 4, arbitrary: fair }, fc.constantFrom('0', ...near), numberText);
}

/** A body whole, or broken in one of the ways in which bodies are. */
export function bodyOf(json: JsonText): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 30, arbitrary: json },
    { weight: 1, arbitrary: anyJsonText },
    {
      weight: 2,
      arbitrary: fc.tuple(json, fc.nat(11)).map(([text, way]) => BREAK[way % BREAK.length]?.(text) ?? ''),
    },
  );
}

const BREAK: ((text: string) => string)[] = [
  () => '',
  (text) => `\ufeff${text}`,
  (text) => text.slice(0, -1),
  (text) => text + text,
  (text) => `${text}]`,
  (text) => `[${text}]`,
  (text) => text.replaceAll('"', "'"),
  (text) => `${text}\0`,
  (text) => ` \t\r\n${text} `,
  (text) => `/* */${text}`,
  (text) => text.replace('{', '{"__proto__":{"polluted":true},'),
];
