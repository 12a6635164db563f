import { groupBy } from '../../../src/engine/group-by.ts';
import type { Effect } from '../agents/effects.ts';
import type { Life } from '../history.ts';
import { type Claim, isTerminal, type Logged } from '../story.ts';
import type { Finding, Rule } from './rule.ts';

/** So soon must a process that stood still notice that what it runs is no longer its own. */
const NOTICED_MS = 1000;
/** What was done may be written down a little later. */
const WRITTEN_MS = 50;

/**
 * A step is settled when it is completed or has failed for good. A later attempt of its task runs it again only if it
 * failed: in these scripts nothing that was completed comes behind a failure that ends an attempt.
 */
export const journaledSteps: Rule = {
  name: 'a step that is journaled does not run again, and any other only because it was cut off or has failed',
  *judge({ log, effects, lives, claims = [] }) {
    const strays = new Set(effects.filter((effect) => isStray(effect, lives)));
    const deaths = new Map(lives.map(({ pid, endedAt }) => [pid, endedAt ?? Number.POSITIVE_INFINITY]));
    const steps = groupBy(log.filter(isOfStep), ({ taskId, data }) => `${taskId} ${data.name}`);
    const runs = groupBy(effects, ({ taskId, key }) => `${taskId} ${key}`);
    const restarts = groupBy(log.filter(isRestart), ({ taskId }) => taskId);
    const claimed = groupBy(claims, ({ taskId }) => taskId);
    const ends = new Map(log.filter(isTerminal).map((event) => [event.taskId, event]));
    for (const place of new Set([...steps.keys(), ...runs.keys()])) {
      const [taskId = '', ...key] = place.split(' ');
      const restarted = restarts.get(taskId) ?? [];
      const ran = runs.get(place) ?? [];
      const events = [...(steps.get(place) ?? []), ...restarted].toSorted((a, b) => a.seq - b.seq);
      yield* judgeEvents(place, events);
      yield* judgeRuns(place, events, ran, deaths, strays, claimed.get(taskId) ?? []);
      yield* judgeValue(place, ran, strays, ends.get(taskId)?.data.output?.values[key.join(' ')]);
    }
  },
};

/**
 * Whether it may have been done by a process that stood still meanwhile, and had not yet noticed that its task had gone to
 * another: nothing can take that back, and nothing of it may be journaled then.
 */
function isStray({ pid, at }: Effect, lives: readonly Life[]): boolean {
  const pauses = lives.filter((life) => life.pid === pid).flatMap((life) => life.pauses);
  return pauses.some(({ from, to }) => to !== null && from - WRITTEN_MS <= at && at <= to + NOTICED_MS);
}

function isOfStep({ type }: Logged): boolean {
  return type.startsWith('step.');
}

/** Whether the code of a task begins again after it. */
function isRestart({ type }: Logged): boolean {
  return type === 'task.recovered' || type === 'task.retrying';
}

function isFailure({ type, data }: Logged): boolean {
  return type === 'step.failed' && data.retryInMs === null;
}

function isSettling(event: Logged): boolean {
  return event.type === 'step.completed' || isFailure(event);
}

function* judgeEvents(place: string, events: readonly Logged[]): Iterable<Finding> {
  let last = 0;
  let settled: Logged | null = null;
  for (const event of events) {
    const { type, data } = event;
    if (type === 'task.retrying' && settled !== null && isFailure(settled)) {
      settled = null;
      last = 0;
    }
    if (!isOfStep(event)) continue;
    if (settled !== null) {
      yield { text: `${place} goes on though it is settled.`, evidence: [settled, event] };
      return;
    }
    // What may run only once fails without another attempt when nobody knows whether it has.
    const isRight =
      type === 'step.started'
        ? data.attempt > last
        : data.attempt === last || (isFailure(event) && data.attempt > last);
    if (!isRight) yield { text: `${place} has attempt ${data.attempt} behind ${last}.`, evidence: event };
    last = data.attempt;
    if (isSettling(event)) settled = event;
  }
}

function* judgeRuns(
  place: string,
  events: readonly Logged[],
  runs: readonly Effect[],
  deaths: ReadonlyMap<number, number>,
  strays: ReadonlySet<Effect>,
  claims: readonly Claim[],
): Iterable<Finding> {
  for (const settled of events.filter(isSettling)) {
    const voided = isFailure(settled) && events.find(({ type, seq }) => type === 'task.retrying' && seq > settled.seq);
    const until = voided ? Date.parse(voided.at) : Number.POSITIVE_INFINITY;
    const isLate = ({ at }: Effect) => at > Date.parse(settled.at) && at < until;
    const late = runs.filter((run) => isLate(run) && !strays.has(run));
    if (late.length > 0) yield { text: `${place} ran again though it is settled.`, evidence: { settled, late } };
    if (settled.type === 'step.completed' && runs.length === 0) {
      yield { text: `${place} is completed and never ran.`, evidence: settled };
    }
  }
  if (runs.some(({ once }) => once) && runs.length > 1) {
    yield { text: `${place} may run once, and ran ${runs.length} times.`, evidence: runs };
  }
  for (const [index, run] of runs.entries()) {
    const before = runs[index - 1];
    if (before === undefined || before.pid !== run.pid) continue;
    // From then on nothing is journaled of what this process did before.
    const takenOver = runs.slice(index).find(({ pid }) => pid !== run.pid)?.at ?? Number.POSITIVE_INFINITY;
    const reclaimed = claims.find(({ at }) => at > run.at)?.at ?? Number.POSITIVE_INFINITY;
    const death = Math.min(deaths.get(run.pid) ?? Number.POSITIVE_INFINITY, takenOver, reclaimed);
    const between = events.filter(({ at }) => before.at <= Date.parse(at) && Date.parse(at) <= death);
    const isClaimedAgain = claims.some(({ at }) => before.at <= at && at <= run.at);
    if (!isClaimedAgain && !isExplained(before, run, between)) {
      yield { text: `${place} ran twice for no reason.`, evidence: [before, run, between] };
    }
  }
}

/**
 * Whether a run in the same process was due: the task's code had begun again, or the step's attempt had failed.
 *
 * @param events from the run before to the end of the process, or to where it or another claims the task again
 */
function isExplained(before: Effect, run: Effect, events: readonly Logged[]): boolean {
  if (events.some((event) => isRestart(event) && Date.parse(event.at) <= run.at)) return true;
  // A body does not wait until its start is on disk. If that never came there, nor need the failure before it.
  const isCutOff = !events.some((event) => isSettling(event) || (isOfStep(event) && event.data.attempt >= run.attempt));
  const hasFailed = events.some(({ type, data }) => type === 'step.failed' && data.attempt === before.attempt);
  return run.attempt > before.attempt && (hasFailed || isCutOff);
}

/** The agent was told what the last run came to: no other can have been journaled, but for one that may be a stray. */
function* judgeValue(
  place: string,
  runs: readonly Effect[],
  strays: ReadonlySet<Effect>,
  value: unknown,
): Iterable<Finding> {
  if (runs.length === 0 || typeof value !== 'string' || value === '' || value === 'uncertain') return;
  const last = runs.slice(
    Math.max(
      0,
      runs.findLastIndex((run) => !strays.has(run)),
    ),
  );
  if (last.some(({ nonce }) => value.includes(nonce))) return;
  yield { text: `${place} came to ${value}, not to its last run.`, evidence: runs };
}
