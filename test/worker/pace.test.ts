import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TaskHandle } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { MAX_JOURNAL_ROWS, ROWS_LIMIT } from '../../src/worker/journal-room.ts';
import { FLOOD_LIMIT, MAX_OUTSTANDING_EVENTS } from '../../src/worker/outgoing.ts';
import { EVENT_BURST, EVENTS_PER_SECOND } from '../../src/worker/pace.ts';
import { answered, MainSide, type Numbered, QUESTION } from '../support/worker-main-side.ts';

let main: MainSide;
afterEach(() => {
  main.close();
  vi.useRealTimers();
});

async function run(codes: Record<string, (task: TaskHandle) => Promise<unknown>>): Promise<void> {
  main = new MainSide(Object.entries(codes).map(([name, code]) => defineAgent({ name, run: code })));
  await main.next('ready');
}

/** Acknowledges everything until the task has ended. @returns what it has reported */
async function untilEnd(): Promise<Numbered[]> {
  const reports: Numbered[] = [];
  while (reports.at(-1)?.kind !== 'end') {
    const report = await main.any();
    if (!('n' in report)) continue;
    main.ack(report);
    reports.push(report);
  }
  return reports;
}

/** Acknowledges everything until nothing more comes by itself. @returns what was reported */
async function untilQuiet(): Promise<Numbered[]> {
  const reports: Numbered[] = [];
  for (await main.settle(); main.unread.length > 0; await main.settle()) {
    for (const report of main.unread.splice(0)) {
      if (!('n' in report)) continue;
      main.ack(report);
      reports.push(report);
    }
  }
  return reports;
}

function eventsOf(reports: readonly Numbered[]): unknown[] {
  return reports.flatMap((report) =>
    report.kind === 'append' ? report.events.map(({ data }) => JSON.parse(data)) : [],
  );
}

describe('the events of a task', () => {
  // Would fail if they were let out as they come, or if any of them was left out.
  test('go out at once for a while, then at their pace, and all of them', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const count = EVENT_BURST + EVENTS_PER_SECOND / 4;
    await run({
      agent: (task) => Promise.all(Array.from({ length: count }, (_, n) => task.emit('my.event', n))),
    });
    main.start('agent');

    const reports = await untilQuiet();
    expect(eventsOf(reports)).toHaveLength(EVENT_BURST);
    vi.advanceTimersByTime(100);
    reports.push(...(await untilQuiet()));
    expect(eventsOf(reports)).toHaveLength(EVENT_BURST + EVENTS_PER_SECOND / 10);
    vi.advanceTimersByTime(1000);
    reports.push(...(await untilQuiet()));

    expect(eventsOf(reports)).toEqual(Array.from({ length: count }, (_, n) => n));
    expect(reports.at(-1)).toMatchObject({ kind: 'end', ending: { status: 'completed' } });
  });

  test('keep their places among the steps, however fast they were emitted', async () => {
    await run({
      async agent(task) {
        for (let n = 0; n < EVENT_BURST; n++) void task.emit('my.event', n);
        const slow = [task.emit('my.event', 'slow'), task.emit('my.event', 'slow')];
        await Promise.all([...slow, task.step('charge', () => 1), task.emit('my.event', 'last')]);
        return null;
      },
    });

    main.start('agent');
    const reports = await untilEnd();

    const kinds = reports.map(({ kind }) => kind).filter((kind, at, all) => kind !== all[at - 1]);
    expect(kinds).toEqual(['append', 'startStep', 'append', 'settleStep', 'end']);
    expect(eventsOf(reports).slice(EVENT_BURST)).toEqual(['slow', 'slow', 'last']);
  });

  // Would fail if nothing bounded what waits for its turn.
  test('fail the task when it goes on without awaiting them, and what was stored of them stays', async () => {
    let signal: AbortSignal | undefined;
    await run({
      async agent(task) {
        signal = task.signal;
        for (let n = 0; n < MAX_OUTSTANDING_EVENTS * 3; n++) void task.emit('my.event', n);
        return null;
      },
    });

    main.start('agent');
    const reports = await untilEnd();

    const stored = eventsOf(reports);
    expect(stored.length).toBeGreaterThanOrEqual(EVENT_BURST);
    expect(stored).toEqual(stored.map((_, n) => n));
    expect(reports.at(-1)).toMatchObject({
      ending: { status: 'failed', error: { code: 'limit_exceeded', message: FLOOD_LIMIT }, cut: null },
    });
    expect(signal?.aborted).toBe(true);
  });

  test('fail the task when they are large and none is awaited, those of steps too', async () => {
    const text = 'x'.repeat(60_000);
    await run({
      agent: (task) =>
        task.step('talk', async (step) => {
          for (let n = 0; n < 400; n++) void step.emit('my.event', { text });
          return 1;
        }),
    });

    main.start('agent');
    const reports = await untilEnd();

    expect(reports.at(-1)).toMatchObject({ ending: { status: 'failed', error: { message: FLOOD_LIMIT } } });
  });

  // Would fail if a worker's reports were one line, in which the flood stands first.
  test('do not stand before those of another task in the same worker', async () => {
    await run({
      async flood(task) {
        for (let n = 0; n < MAX_OUTSTANDING_EVENTS; n++) void task.emit('flood.tick', n);
        return null;
      },
      async quiet(task) {
        await task.emit('quiet.word');
        return null;
      },
    });
    main.start('flood', { taskId: 'task_flood' });
    main.start('quiet', { taskId: 'task_quiet' });

    let before = 0;
    for (let report = await main.any(); ; report = await main.any()) {
      if (!('n' in report)) continue;
      if (report.taskId === 'task_quiet') break;
      before += report.kind === 'append' ? report.events.length : 0;
      main.ack(report);
    }

    expect(before).toBeLessThan(EVENT_BURST / 2);
  });
});

describe('the journal of a task', () => {
  const keys = Array.from({ length: MAX_JOURNAL_ROWS - 1 }, (_, at) => (at === 0 ? 'q' : `q#${at + 1}`));

  test.each(['step', 'child'])('has an end, at which the task fails and is told so: a %s', async (kind) => {
    let signal: AbortSignal | undefined;
    await run({
      async agent(task) {
        signal = task.signal;
        await Promise.all(keys.map(() => task.ask('q', QUESTION)));
        if (kind === 'child') await task.spawn('child', 'agent');
        await task.step('last', () => 1);
        await task.step('too-many', () => 1);
        return null;
      },
    });

    main.journal.resolve(...keys.map((key) => answered(key)));
    main.start('agent', { rows: [...main.journal.rows.values()] });
    const reports = await untilEnd();

    expect(reports.map((report) => report.kind)).toEqual(
      kind === 'step' ? ['startStep', 'settleStep', 'end'] : ['end'],
    );
    expect(reports.at(-1)).toMatchObject({
      ending: { status: 'failed', error: { code: 'limit_exceeded', message: ROWS_LIMIT }, cut: null },
    });
    expect(signal?.aborted).toBe(true);
  });
});
