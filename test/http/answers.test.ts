import { expect, test } from 'vitest';
import { createAppDouble, post, QUESTION, send } from './app-double.ts';

const { app, asked } = createAppDouble();
const ANSWERS = `/v1/questions/${QUESTION.id}/answers`;
const DECLINE = `/v1/questions/${QUESTION.id}/decline`;

test('hands on answers by item, and one answer for a question of one item', async () => {
  await post(app, ANSWERS, { answers: { month: 'june', nights: null } });
  await post(app, ANSWERS, { answer: 'june' });

  expect(asked.answered).toEqual([{ answers: { month: 'june', nights: null } }, { answer: 'june' }]);
});

test.each([false, 0, '', [], null])('takes %j for an answer', async (answer) => {
  const response = await post(app, ANSWERS, { answer });

  expect(response.status).toBe(200);
  expect(asked.answered.at(-1)).toEqual({ answer });
});

test.each([
  {},
  { answer: 1, answers: { a: 1 } },
  { answer: null, answers: {} },
  { answers: [] },
  { answers: null },
  { answers: 'x' },
  { answer: 1, extra: 2 },
])('refuses %j', async (body) => {
  expect((await post(app, ANSWERS, body)).status).toBe(400);
});

test('needs a body to answer, and none to decline', async () => {
  const answered = await send(app, ANSWERS, { method: 'POST' });
  const declined = await send(app, DECLINE, { method: 'POST' });

  expect(answered.status).toBe(400);
  expect(declined.status).toBe(200);
  expect(asked.declined).toEqual([null]);
});

test('lists questions by page, with the cursor of the snapshot', async () => {
  const response = await send(app, '/v1/questions?status=pending');

  expect(await response.json()).toEqual({ items: [QUESTION], nextPage: null });
  expect(response.headers.get('Holdfast-Cursor')).toBe('abcdefgh.7');
});
