import type { Cut } from '../../src/model/journal.ts';
import { isTerminal } from '../../src/model/task.ts';
import { type BodyRun, callsOf, deliveriesOf, type Incarnation, type TraceEntry } from './trace.ts';
import type { World } from './world.ts';

export interface AuditOptions {
  /** Whether the code awaits nothing but its handle: then its calls come in the same order too. */
  strict: boolean;
  /** Tasks that may stand still or stay unfinished. */
  mayStand?: boolean;
}

/** Everything that must hold of a world in the end, whatever its agents did and whatever was lost. */
export function audit(world: World, { strict, mayStand = false }: AuditOptions): string[] {
  const tasks = [...new Set(world.runs.incarnations.map(({ taskId }) => taskId))];
  return [
    ...world.troubles,
    ...world.history.contradictions,
    ...(mayStand ? [] : world.clock.standstills.map((what) => `stands still: ${what}`)),
    ...(mayStand ? [] : unfinished(world)),
    ...tasks.flatMap((taskId) => auditRuns(world.runs.of(taskId), strict)),
    ...tasks.flatMap((taskId) => auditCuts(world, taskId)),
    ...tasks.flatMap((taskId) => auditRetry(world, taskId)),
    ...tasks.flatMap((taskId) => auditEmits(world, taskId)),
    ...tasks.flatMap((taskId) => auditValues(world, taskId)),
    ...tasks.flatMap((taskId) => auditInbox(world, taskId)),
    ...auditDraws(world),
    ...auditOnce(world),
  ];
}

function unfinished(world: World): string[] {
  return world.tasks().flatMap(({ id, status }) => (isTerminal(status) ? [] : [`${id} is still ${status}`]));
}

/** Between two cuts every run of the code is given the same in the same order: the shorter is how the longer begins. */
function auditRuns(runs: readonly Incarnation[], strict: boolean): string[] {
  return runs.flatMap((run, index) => {
    const earlier = runs.slice(0, index).filter(({ cuts }) => cuts === run.cuts);
    const longest = earlier.reduce<Incarnation | null>(
      (best, other) => (best !== null && best.trace.length >= other.trace.length ? best : other),
      null,
    );
    if (longest === null) return [];
    const [before, after] = strict ? [linesOf(longest), linesOf(run)] : [deliveriesOf(longest), deliveriesOf(run)];
    return differ(before, after, Math.min(before.length, after.length), 'a replay');
  });
}

/** The attempt after a cut goes the same way up to the failure. */
function auditCuts(world: World, taskId: string): string[] {
  const runs = world.runs.of(taskId);
  return world.history.cutsOf(taskId).flatMap((cut, index) => {
    const failing = runs.findLast(({ cuts, trace }) => cuts === index && trace.some(({ at }) => at === 'end'));
    if (failing === undefined) return [`nobody has failed before cut ${index + 1}`];
    return [
      ...auditCut(world, taskId, failing, index),
      ...runs.filter(({ cuts }) => cuts === index + 1).flatMap((run) => sameUpTo(failing, run, cut)),
    ];
  });
}

/** So does a task that retries another, up to the last that it has of it: events behind that are told when they are. */
function auditRetry(world: World, taskId: string): string[] {
  const { retryOf } = world.task(taskId);
  if (retryOf === null) return [];
  const { cut } = world.task(retryOf);
  const last = world.runs.of(retryOf).at(-1);
  if (last === undefined) return [];
  const trace = cut === null ? last.trace : last.trace.slice(0, failureIn(last, cut));
  const given = deliveriesOf({ trace }).map(withoutIds);
  const before = given.slice(0, given.findLastIndex((delivery) => !delivery.startsWith('(')) + 1);
  const runs = world.runs.of(taskId).filter(({ cuts }) => cuts === 0);
  return runs.flatMap((run) => {
    const again = deliveriesOf(run).map(withoutIds);
    return differ(before, again, Math.min(before.length, again.length), 'a retry');
  });
}

/** A child that is made anew has another id. */
function withoutIds(delivery: string): string {
  return delivery.replace(/"task_\w+"/, 'a child');
}

function sameUpTo(failing: Incarnation, run: Incarnation, cut: Cut): string[] {
  const before = deliveriesOf({ trace: failing.trace.slice(0, failureIn(failing, cut)) }).map(withoutIds);
  const after = deliveriesOf(run).map(withoutIds);
  return differ(before, after, Math.min(before.length, after.length), 'after a cut, the code');
}

/** Where in its trace the first of the failures was delivered that ended it. */
function failureIn({ trace }: Incarnation, cut: Cut): number {
  return trace.findIndex((entry) => entry.at === 'delivery' && cut.keys.includes(entry.what));
}

function auditCut(world: World, taskId: string, failing: Incarnation, index: number): string[] {
  const [cut, ...later] = world.history.cutsOf(taskId).slice(index);
  if (cut === undefined) return [];
  const at = failureIn(failing, cut);
  if (at < 0) return [`a cut at ${cut.keys.join()}, of which none was delivered`];
  const before = failing.trace.slice(0, at);
  const emits = callsOf({ trace: before }).filter(isEmit);
  const complaints: string[] = [];
  if (cut.emits !== emits.length) complaints.push(`a cut at ${cut.emits} emits, when ${emits.length} were called`);
  if (cut.askedAt !== deliveriesOf({ trace: before }).length) complaints.push(`a cut at ${cut.askedAt} deliveries`);
  const told = toldBy(world, taskId, index);
  const kept = Math.min(emits.length, ...later.map((other) => other.emits));
  for (const emit of emits.slice(0, kept)) {
    const times = told.filter((text) => text === textOf(emit)).length;
    if (times !== 1) complaints.push(`${emit}, called before a failure, was told ${times} times`);
  }
  return complaints;
}

/** What the store has of a task's events outside steps is what its code has emitted, in that order, each once. */
function auditEmits(world: World, taskId: string): string[] {
  const last = world.runs.of(taskId).at(-1);
  const { status } = world.task(taskId);
  if (last === undefined || last.cuts !== world.history.cutsOf(taskId).length) return [];
  const called = callsOf({ trace: untilEnd(last.trace) })
    .filter(isEmit)
    .map(textOf);
  const told = toldBy(world, taskId, Number.POSITIVE_INFINITY);
  const complaints = differ(called, told, Math.min(told.length, called.length), 'what was told');
  if (told.length > called.length) complaints.push(`${told.length} events were told, ${called.length} emitted`);
  if (status === 'completed' && told.length < called.length) complaints.push('an event was not told');
  if (world.task(taskId).emits !== told.length) complaints.push('the task counts its emits otherwise');
  return complaints;
}

/** The events of a task outside steps but for those of paths that were cut off, by the first so many cuts. */
function toldBy(world: World, taskId: string, cuts: number): string[] {
  const left = world.history.cutsOf(taskId).slice(0, cuts);
  const told: string[] = [];
  for (const event of world.eventsOf(taskId)) {
    const cut = world.history.wasCutAt(event.seq) ? left.shift() : undefined;
    // What a replay had called and not come to tell before it failed is still to come.
    if (cut !== undefined) told.length = Math.min(told.length, cut.emits);
    const text = emitText(event);
    if (text !== null) told.push(text);
  }
  return told;
}

function emitText({ type, step, data }: { type: string; step: string | null; data: string }): string | null {
  if (step !== null) return null;
  if (type === 'task.progress') {
    const { fraction, note } = JSON.parse(data);
    return `progress ${fraction} ${note ?? ''}`;
  }
  return /^(task|step|question|message|tool)\./.test(type) ? null : `emit ${type} ${data}`;
}

const isEmit = (call: string) => /^(emit|progress) /.test(call);
/** A call of an emit without its number. */
const textOf = (call: string) => call.slice(0, call.lastIndexOf(' ('));

/** What was delivered is what the journal says. */
function auditValues(world: World, taskId: string): string[] {
  const last = world.runs.of(taskId).at(-1);
  if (last === undefined || last.cuts !== world.history.cutsOf(taskId).length) return [];
  return last.trace.flatMap((entry) => {
    if (entry.at !== 'delivery' || entry.what.startsWith('(')) return [];
    const row = world.history.journal.row(taskId, entry.what);
    if (row === undefined || row.status === 'pending') return [`${entry.what} was delivered and is not in the journal`];
    // A child's result may have come before the code asked for it.
    if (entry.now !== row.at && row.kind !== 'child')
      return [`${entry.what} was delivered at ${entry.now}, resolved at ${row.at}`];
    if (!entry.ok) return row.status === 'failed' ? [] : [`${entry.what} was delivered as a failure`];
    const value = row.value === null ? 'null' : JSON.stringify(JSON.parse(row.value));
    return entry.value === value ? [] : [`${entry.what} was delivered as ${entry.value}, and is ${value}`];
  });
}

/** Messages are taken in the order in which they came, each once. */
function auditInbox(world: World, taskId: string): string[] {
  const sent = world.history.messagesOf(taskId);
  const rows = world.history.journal.resolved(taskId).filter(({ kind }) => kind === 'inbox');
  const taken = rows.flatMap(({ value }) => JSON.parse(value ?? '[]'));
  const all = [...taken, ...world.task(taskId).inbox].map((message) => JSON.stringify(message));
  return JSON.stringify(all) === JSON.stringify(sent) ? [] : [`messages ${sent} came as ${all}`];
}

function auditDraws(world: World): string[] {
  return [...world.runs.draws].flatMap(([what, values]) =>
    values.size === 1 ? [] : [`${what} was ${[...values].join(' and ')}`],
  );
}

/** A `once` body runs again only where its own failure was what ended an attempt. */
function auditOnce(world: World): string[] {
  const { bodies } = world.runs;
  const { history } = world;
  const cuts = world.tasks().map((task) => ({
    chain: history.chainOf(task.id),
    keys: [...history.cutsOf(task.id), task.cut].flatMap((cut) => cut?.keys ?? []),
  }));
  const wasCut = ({ taskId, key, ended }: BodyRun) =>
    ended === 'threw' && cuts.some(({ chain, keys }) => chain === history.chainOf(taskId) && keys.includes(key));
  return bodies.flatMap((run, index) => {
    const chain = history.chainOf(run.taskId);
    const before = bodies
      .slice(0, index)
      .filter(({ key, once, taskId }) => once && key === run.key && history.chainOf(taskId) === chain);
    return run.once && before.some((other) => !wasCut(other)) ? [`the body of ${run.key} has run twice`] : [];
  });
}

function untilEnd(trace: readonly TraceEntry[]): TraceEntry[] {
  const end = trace.findIndex(({ at }) => at === 'end');
  return end < 0 ? [...trace] : trace.slice(0, end);
}

function linesOf({ trace }: Incarnation): string[] {
  return untilEnd(trace).map((entry) => {
    if (entry.at === 'call') return `call ${entry.op} ${entry.what}`;
    return entry.at === 'end' ? 'end' : `${entry.what} ${entry.ok ? '=' : '!'} ${entry.value} @${entry.now}`;
  });
}

/** Compares the first `count` of both. */
export function differ(before: readonly string[], after: readonly string[], count: number, who: string): string[] {
  for (let index = 0; index < count; index++) {
    if (before[index] === after[index]) continue;
    return [`${who} differs at ${index}: ${after[index]} where it was ${before[index]}`];
  }
  return [];
}
