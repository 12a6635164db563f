/**
 * Asks the registry whether an advisory of high or critical severity is known of what this package installs for the people
 * who use it. Exits with 1 when there is. Where nobody could be asked it says so; with CI=true that is a failure, but not
 * where the registry is a mirror that has no advisories at all, since it will not have them the next time either.
 */
import { spawnSync } from 'node:child_process';

const LEVELS = ['high', 'critical'];
/** How a registry says that it has no such thing. */
const NOT_OFFERED = [404, 405, 501];
const ARGS = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-retry-mintimeout=1000'];

// On Windows npm is a script, which only a shell can start.
const { stdout, error } = spawnSync('npm', [...ARGS, ...process.argv.slice(2)], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
if (error !== undefined) throw error;
const report = JSON.parse(stdout);
if (report.vulnerabilities === undefined) {
  const isOffered = !NOT_OFFERED.includes(report.statusCode);
  console.error(`Dependencies were NOT checked for known faults: ${report.message ?? stdout}`);
  if (!isOffered) console.error('This registry has no advisories. Ask another: npm run audit -- --registry <url>');
  process.exit(isOffered && process.env.CI === 'true' ? 1 : 0);
}
const bad = Object.values(report.vulnerabilities).filter(({ severity }) => LEVELS.includes(severity));
for (const { name, severity, range, via } of bad) {
  const reasons = via.map((/** @type {string | { title: string, url: string }} */ cause) =>
    typeof cause === 'string' ? `by ${cause}` : `${cause.title} (${cause.url})`,
  );
  console.error(`${severity}: ${name} ${range}: ${reasons.join('; ')}`);
}
if (bad.length > 0) {
  console.error(`${bad.length} dependencies have known faults. \`npm audit --omit=dev\` says what to do.`);
  process.exit(1);
}
