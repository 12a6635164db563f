import { describe, expect, test } from 'vitest';
import { tripPlanner } from '../../src/agents/trip-planner.ts';
import type { Reply } from '../../src/model/agent.ts';
import type { NewEvent } from '../../src/model/event.ts';
import type { Report } from '../../src/worker/protocol.ts';
import { MainSide } from '../support/worker-main-side.ts';

type Replies = { [key: string]: Reply };

function answer(item: string, value: string): Reply {
  return { status: 'answered', answers: { [item]: value }, resolvedBy: 'local' };
}

/** Runs the agent, and resolves its questions as soon as it waits for them. */
async function plan(
  replies: Replies,
): Promise<{ reports: Report[]; events: NewEvent[]; said: string[]; output: unknown }> {
  const main = new MainSide([tripPlanner]);
  const reports: Report[] = [];
  await main.next('ready');
  main.start('trip-planner', { input: { city: 'Porto' } });
  for (let fence = 1; ; ) {
    const report = await main.any();
    reports.push(report);
    if (report.kind === 'wait') {
      main.waited(report, 'waiting');
      fence++;
      main.adopt(
        fence,
        ...report.keys.map((key) => {
          const reply = replies[key] ?? ({ status: 'expired' } as const);
          return { key, status: reply.status, value: JSON.stringify(reply) };
        }),
      );
    } else if ('n' in report) main.ack(report);
    if (report.kind === 'end') {
      main.close();
      const events = reports.flatMap((each) => (each.kind === 'append' ? each.events : []));
      const said = reports.flatMap((each) => (each.kind === 'settleStep' && each.message ? each.message.content : []));
      return { reports, events, said, output: report.ending.status === 'completed' && report.ending.output };
    }
  }
}

describe.concurrent('the trip planner', () => {
  test('asks twice and plans with the answers', async () => {
    const { events, said, output } = await plan({ month: answer('month', 'june'), wish: answer('wish', 'fado') });

    expect(output).toEqual({ planned: true, city: 'Porto', month: 'june', euros: 124 });
    expect(said).toHaveLength(2);
    expect(said[1]).toContain('In June you leave');
    expect(said[1]).toContain('fado');
    expect(events.filter(({ type }) => type === 'message.delta').length).toBeGreaterThan(10);
    expect(events.map(({ type }) => type)).toContain('trip.flights-found');
    expect(events.findLast(({ type }) => type === 'task.progress')?.data).toBe('{"fraction":1,"note":"done"}');
  });

  test('plans without a wish', async () => {
    const { said, output } = await plan({ month: answer('month', 'may') });

    expect(output).toMatchObject({ planned: true, month: 'may' });
    expect(said[1]).toContain('You gave me no wish');
  });

  test.each([
    [{ status: 'declined', reason: null }, 'No trouble at all'],
    [{ status: 'expired' }, 'I have not heard from you'],
  ] as const)('takes its leave when nobody says when: %o', async (outcome, farewell) => {
    const { said, output } = await plan({ month: outcome });

    expect(output).toEqual({ planned: false, city: 'Porto', because: outcome.status });
    expect(said[1]).toContain(farewell);
  });
});
