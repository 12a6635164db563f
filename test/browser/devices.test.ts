import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { expectWhole, openPlain, openQuestions, toldOf } from './plain-page.ts';
import { openSite, type Site } from './site.ts';

const ROUNDS = 9;
const CLOSES_WITHIN_MS = 300;

describeInChromium('[Q5] [Q6] Two browsers of one account', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  // Would fail if the resolution were no event of its own, or waited for a timer on its way.
  test('close a question that is answered in either of them within 300 ms in the other', async () => {
    const id = await site.newConversation();
    const devices = [
      await openPlain(await chromium.newContext(), site.proxy.url, id),
      await openPlain(await chromium.newContext(), site.proxy.url, id),
    ] as const;
    await site.write(id, 'quizzer', `${ROUNDS}`);

    const delays: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(devices.map((page) => asked(page, round + 1)));
      const [answering, watching] = round % 2 === 0 ? devices : [devices[1], devices[0]];
      const [question = ''] = await openQuestions(answering);
      const pressedAt = await answer(answering, question);
      delays.push((await closedAt(watching, question)) - pressedAt);
    }
    await Promise.all(devices.map((page) => toldOf(page, 'task.completed')));

    const median = delays.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
    expect(median, `of ${delays.map(Math.round)}`).toBeLessThan(CLOSES_WITHIN_MS);
    for (const page of devices) await expectWhole(page, site.api, id);
  });
});

async function asked(page: Page, questions: number): Promise<void> {
  await page.evaluate(async (count) => {
    const plain = await window.plain;
    await plain.until(() => plain.told.filter(({ event }) => event.type === 'question.asked').length === count);
  }, questions);
}

/** @returns when it was sent, epoch ms by the page's clock */
function answer(page: Page, questionId: string): Promise<number> {
  return page.evaluate(async (id) => {
    const pressedAt = performance.timeOrigin + performance.now();
    const headers = { 'Content-Type': 'application/json' };
    await fetch(`/v1/questions/${id}/answers`, { method: 'POST', headers, body: '{"answer": "yes"}' });
    return pressedAt;
  }, questionId);
}

/** @returns when the page was told, epoch ms by its clock */
function closedAt(page: Page, questionId: string): Promise<number> {
  return page.evaluate(async (id) => {
    const plain = await window.plain;
    const closing = () =>
      plain.told.find(({ event: { type, data } }) => type === 'question.answered' && data.questionId === id);
    await plain.until(() => closing() !== undefined);
    return closing()?.at ?? 0;
  }, questionId);
}
