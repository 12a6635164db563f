import { readdirSync, readFileSync } from 'node:fs';

const TICKS_A_SECOND = 100;

/** User and system time that a process and its threads have used, in seconds. */
export function cpuSeconds(pid: number): number {
  const { user, system } = statOf(pid);
  return (user + system) / TICKS_A_SECOND;
}

/** The same of a process and all its children, also of those that have ended. */
export function cpuSecondsWithChildren(pid: number): number {
  const { user, system, ofEnded } = statOf(pid);
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const child = statOf(Number(name));
        return child.parent === pid ? [child.user + child.system] : [];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
  return (user + system + ofEnded + children.reduce((sum, ticks) => sum + ticks, 0)) / TICKS_A_SECOND;
}

function statOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent: fields[1], user, system, ofEnded: endedUser + endedSystem };
}
