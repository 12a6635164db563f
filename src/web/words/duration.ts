const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long something took, in two units at most: `840 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function durationWords(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return twoUnits(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return twoUnits(ms, HOUR, 'h', MINUTE, 'min');
  return twoUnits(ms, DAY, 'd', HOUR, 'h');
}

/** What is left until a deadline: `0:42`, `14:05`, `2 h 5 min`, `3 d 4 h`. Never below zero. */
export function countdownWords(ms: number): string {
  const left = Math.max(0, ms);
  if (left >= HOUR) return durationWords(left);
  const seconds = Math.ceil(left / SECOND);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

function twoUnits(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / big);
  const rest = Math.floor((ms % big) / small);
  return rest === 0 ? `${whole} ${bigName}` : `${whole} ${bigName} ${rest} ${smallName}`;
}
