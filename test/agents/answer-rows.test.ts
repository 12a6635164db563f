import { afterEach, expect, test, vi } from 'vitest';
import { createAssistant } from '../../src/agents/create-assistant.ts';
import type { NewEvent } from '../../src/model/event.ts';
import { MainSide } from '../support/worker-main-side.ts';
import { createScriptedModel } from './scripted-model.ts';

const TOKENS = 2000;
const TOKENS_PER_SECOND = 100;

afterEach(() => {
  vi.useRealTimers();
});

/** Each token takes its time, which passes while the model is waited for and at no other moment. */
async function* tokens(): AsyncGenerator<string> {
  for (let n = 0; n < TOKENS; n++) {
    vi.advanceTimersByTime(1000 / TOKENS_PER_SECOND);
    yield ` token-${n}`;
  }
}

test('an answer of 2,000 tokens at 100 a second makes at most 500 rows', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const main = new MainSide([createAssistant({ model: createScriptedModel(tokens()), system: '' })]);
  await main.next('ready');
  main.start('assistant', { input: { message: 'Tell me everything.' } });

  const events: NewEvent[] = [];
  let text: string | null = null;
  for (let isOver = false; !isOver; ) {
    const report = await main.any();
    if (report.kind === 'append') events.push(...report.events);
    if (report.kind === 'settleStep') text = report.message?.content ?? null;
    if ('n' in report) main.ack(report);
    isOver = report.kind === 'end';
  }
  main.close();

  const deltas = events.filter(({ type }) => type === 'message.delta');
  expect(text).toMatch(/^token-0 .* token-1999$/);
  expect(deltas.map(({ data }) => JSON.parse(data).text).join('')).toBe(text);
  expect(events.length).toBeLessThanOrEqual(500);
  expect(deltas.length).toBeGreaterThan(300);
});
