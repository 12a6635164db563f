import { expect, test } from 'vitest';
import { CONVERSATION, dataOf, givenConversation, open } from '../given.ts';
import { NOON, Table } from '../table.ts';

const AT_NOON = '2026-01-01T12:00:00.000Z';

test('opens an empty conversation, and tells it', () => {
  const table = new Table();

  const { outcome, events } = table.run(open());

  const record = {
    ...{ id: CONVERSATION, title: 'Lisbon', metadata: { from: 'web' }, agent: null },
    ...{ createdAt: NOON, lastActivityAt: NOON, prunedSeq: 0, unfinishedRoots: 0, deletedAt: null },
  };
  expect(outcome).toEqual({ ok: true, result: { conversation: record }, replayed: false });
  expect(table.conversations.get(CONVERSATION)).toEqual(record);
  const conversation = { id: CONVERSATION, title: 'Lisbon', metadata: { from: 'web' } };
  const told = { ...conversation, createdAt: AT_NOON, lastActivityAt: AT_NOON };
  expect(dataOf(events)).toEqual([['conversation.created', { conversation: told }]]);
  expect(events).toMatchObject([{ seq: 1, taskId: null, rootId: null, conversationId: CONVERSATION }]);
});

test.each([
  ['is there', (_table: Table) => {}],
  ['was deleted', (table: Table) => table.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } })],
])('never replaces a conversation with the same id that %s', (_what, before) => {
  const table = givenConversation();
  before(table);

  const { outcome, events } = table.run(open());

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(events).toEqual([]);
});
