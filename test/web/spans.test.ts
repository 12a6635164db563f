import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../src/client/index.ts';
import { toLanes } from '../../src/web/task/lanes.ts';
import { createSpans, type TaskSpans } from '../../src/web/task/spans.ts';
import { atSecond, eventOf } from './event-example.ts';
import { questionOf } from './question-example.ts';

const STEP = { step: { name: 'charge', attempt: 1 } };

function spansOf(...events: LogEvent[]): TaskSpans {
  const builder = createSpans();
  for (const event of events) builder.add(event);
  return builder.read();
}

/** Each as its name, how it ended, and from when to when in seconds. */
function told({ spans }: TaskSpans): string[] {
  const second = (at: number | null) => (at === null ? '' : (at - atSecond(0)) / 1000);
  return spans.map(({ name, status, from, to }) => `${name} ${status} ${second(from)}–${second(to)}`);
}

describe('spans', () => {
  test('show attempts, steps and waits with how they ended', () => {
    const spans = spansOf(
      eventOf('task.started', { attempt: 1 }, { second: 0 }),
      eventOf('step.started', { name: 'charge', attempt: 1 }, { second: 1 }),
      eventOf(
        'step.failed',
        { name: 'charge', attempt: 1, error: { code: 'agent_error', message: 'no' } },
        { second: 2 },
      ),
      eventOf('step.started', { name: 'charge', attempt: 2 }, { second: 3 }),
      eventOf('step.completed', { name: 'charge', attempt: 2, ms: 1000 }, { second: 4 }),
      eventOf('task.waiting', { questionIds: [], until: null, for: ['people', 'timer'] }, { second: 5 }),
      eventOf('task.resumed', {}, { second: 8 }),
      eventOf('task.completed', { output: null }, { second: 9 }),
    );

    expect(told(spans)).toEqual([
      'Attempt 1 done 0–9',
      'charge failed 1–2',
      'charge done 3–4',
      'Waiting for people and a timer done 5–8',
    ]);
    expect(spans.marks).toMatchObject([{ kind: 'completed', at: atSecond(9) }]);
  });

  test('show what is still going on without an end', () => {
    expect(told(spansOf(eventOf('task.started', { attempt: 1 }, { second: 2 })))).toEqual(['Attempt 1 open 2–']);
  });

  test('show a step that is a tool’s call as that, with what went in and came out', () => {
    const { spans } = spansOf(
      eventOf('step.started', { name: 'charge', attempt: 1 }),
      eventOf('tool.called', { toolCallId: 'call_1', name: 'payments', input: { euros: 5 } }, STEP),
      eventOf('tool.returned', { toolCallId: 'call_1', output: { paid: true } }, STEP),
      eventOf('step.completed', { name: 'charge', attempt: 1, ms: 9 }, { second: 1 }),
    );

    expect(spans).toMatchObject([
      {
        kind: 'tool',
        name: 'payments',
        status: 'done',
        tool: { input: { euros: 5 }, output: { paid: true }, truncated: false },
      },
    ]);
  });

  test('show a tool’s call that failed with its error', () => {
    const error = { code: 'agent_error', message: 'broke' };
    const { spans } = spansOf(
      eventOf('step.started', { name: 'charge', attempt: 1 }),
      eventOf('tool.called', { toolCallId: 'call_1', name: 'payments', input: null }, STEP),
      eventOf('tool.returned', { toolCallId: 'call_1', error }, STEP),
      eventOf('step.failed', { name: 'charge', attempt: 1, error }, { second: 1 }),
    );

    expect(spans).toMatchObject([{ kind: 'tool', status: 'failed', error }]);
  });

  test('end with a lost worker, and go on with another attempt', () => {
    const spans = spansOf(
      eventOf('task.started', { attempt: 1 }, { second: 0 }),
      eventOf('step.started', { name: 'charge', attempt: 1 }, { second: 1 }),
      eventOf('task.recovered', { attempt: 1, reason: 'crashed' }, { second: 4 }),
      eventOf('task.started', { attempt: 2 }, { second: 5 }),
    );

    expect(told(spans)).toEqual(['Attempt 1 void 0–4', 'charge void 1–4', 'Attempt 2 open 5–']);
    expect(spans.marks).toMatchObject([{ kind: 'recovered' }]);
  });

  test('of a child end with the child alone', () => {
    const child = { taskId: 'task_2', rootId: 'task_1' };
    const spans = spansOf(
      eventOf('task.started', { attempt: 1 }, { second: 0 }),
      eventOf('task.started', { attempt: 1 }, { second: 1, ...child }),
      eventOf('task.completed', { output: null }, { second: 2, ...child }),
    );

    expect(told(spans)).toEqual(['Attempt 1 open 0–', 'Attempt 1 done 1–2']);
    expect(spans.marks).toEqual([]);
  });

  test('show questions by what they are about', () => {
    const spans = spansOf(
      eventOf('question.asked', { question: questionOf() }, { second: 1 }),
      eventOf('question.expired', { questionId: 'qst_1', resolvedBy: null }, { second: 3 }),
    );

    expect(told(spans)).toEqual(['Which month? void 1–3']);
  });
});

test('lanes begin with attempts and waits, and hold what has one name together', () => {
  const { spans } = spansOf(
    eventOf('step.started', { name: 'charge', attempt: 1 }, { second: 0 }),
    eventOf('step.failed', { name: 'charge', attempt: 1, error: { code: 'agent_error', message: '' } }, { second: 1 }),
    eventOf('step.started', { name: 'charge', attempt: 2 }, { second: 2 }),
    eventOf('task.waiting', { questionIds: [], until: null, for: ['timer'] }, { second: 3 }),
    eventOf('task.started', { attempt: 1 }, { second: 4 }),
  );

  expect(toLanes(spans).map(({ label, spans: own }) => `${label} ${own.length}`)).toEqual([
    'Attempts 1',
    'Waiting 1',
    'charge 2',
  ]);
});
