import { expect, test } from 'vitest';
import { CONVERSATION, dataOf, givenConversation, MINUTE } from '../given.ts';
import { NOON, Table } from '../table.ts';

const update = (changes: object) =>
  ({ verb: 'updateConversation', args: { conversationId: CONVERSATION, ...changes } }) as const;

test.each([
  [{ title: 'Porto' }, { title: 'Porto', metadata: { from: 'web' } }],
  [{ title: null }, { title: null, metadata: { from: 'web' } }],
  [{ metadata: {} }, { title: 'Lisbon', metadata: {} }],
])('changes what it is given, %j, and tells the whole', (changes, after) => {
  const table = givenConversation();
  table.now += MINUTE;

  const { outcome, events } = table.run(update(changes));

  const record = table.conversations.get(CONVERSATION);
  expect(record).toMatchObject({ ...after, createdAt: NOON, lastActivityAt: NOON + MINUTE });
  expect(outcome).toMatchObject({ ok: true, result: { conversation: record } });
  const times = { createdAt: '2026-01-01T12:00:00.000Z', lastActivityAt: '2026-01-01T12:01:00.000Z' };
  expect(dataOf(events)).toEqual([
    ['conversation.updated', { conversation: { id: CONVERSATION, ...after, ...times } }],
  ]);
});

test('has nothing to tell when nothing is to be changed', () => {
  const table = givenConversation();
  table.now += MINUTE;

  const { outcome, events } = table.run(update({}));

  expect(outcome).toMatchObject({ ok: true, replayed: true, result: { conversation: { lastActivityAt: NOON } } });
  expect(events).toEqual([]);
});

test('knows no conversation with another id, and none that was deleted', () => {
  const deleted = givenConversation();
  deleted.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } });

  for (const table of [new Table(), deleted]) {
    const { outcome, events } = table.run(update({ title: 'Porto' }));

    expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
    expect(events).toEqual([]);
  }
});
