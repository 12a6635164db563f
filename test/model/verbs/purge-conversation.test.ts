import { expect, test } from 'vitest';
import { purgeConversation } from '../../../src/model/verbs/purge-conversation.ts';
import { View } from '../../../src/model/view.ts';
import { CONVERSATION, givenConversation } from '../given.ts';
import { NOON, Table } from '../table.ts';

const purge = { verb: 'purgeConversation', args: { conversationId: CONVERSATION } } as const;

test('takes rows of a conversation that was deleted, again and again, and tells nothing', () => {
  const table = givenConversation();
  table.run({ verb: 'deleteConversation', args: { conversationId: CONVERSATION } });
  const view = new View(table.log);
  view.load({ conversations: table.conversations.values() });

  const decision = purgeConversation.decide(view, purge.args, NOON);

  expect(decision).toMatchObject({ changes: { purge: [CONVERSATION] }, events: [], outcome: { ok: true } });
  expect(table.run(purge).outcome.ok).toBe(true);
  expect(table.run(purge).outcome.ok).toBe(true);
});

test('takes nothing of one that is there, or was never', () => {
  for (const table of [givenConversation(), new Table()]) {
    expect(table.run(purge).outcome).toMatchObject({ ok: false, code: 'not_due' });
  }
});
