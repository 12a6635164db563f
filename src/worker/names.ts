const MAX_NAME_LENGTH = 64;
/** A store would keep NUL and lone surrogates as something else, and what is found by the name would never be found. */
const FORBIDDEN = /[#>\0]|\p{Surrogate}/u;

/** @throws TypeError when `name` cannot be the name of a step, question, timer or value */
export function checkName(name: string): void {
  if (typeof name === 'string' && name.length >= 1 && name.length <= MAX_NAME_LENGTH && !FORBIDDEN.test(name)) return;
  const given = typeof name === 'string' ? JSON.stringify(name.slice(0, MAX_NAME_LENGTH)) : typeof name;
  throw new TypeError(
    `A name has 1 to ${MAX_NAME_LENGTH} characters and no "#", ">", NUL or lone surrogate; not ${given}.`,
  );
}
