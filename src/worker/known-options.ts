/** @throws TypeError naming the first option that is not one of these: a mistyped one would be lost without a word */
export function checkOptions(of: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown === undefined) return;
  throw new TypeError(`${of} takes ${known.join(', ')}; not ${JSON.stringify(unknown)}.`);
}
