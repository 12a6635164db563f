import { describe, expect, test } from 'vitest';
import type { Entry, Message } from '../../src/client/index.ts';
import { isSameBlock, toBlocks } from '../../src/web/chat/turn-blocks.ts';
import { groupTurns, isSameGroup } from '../../src/web/chat/turn-groups.ts';
import { questionOf } from './question-example.ts';

function said(role: Message['role'], taskId: string, id: string): Entry {
  const more = { conversationId: 'conv_1', status: 'complete', empty: false, metadata: {} } as const;
  const message: Message = { id, role, taskId, content: id, createdAt: '2026-12-01T12:00:00.000Z', ...more };
  return { kind: 'message', key: id, message };
}

const asked: Entry = { kind: 'question', key: 'qst_1', question: questionOf({ taskId: 'task_1' }) };
const outgoing: Entry = { kind: 'outgoing', key: 'out', content: 'Wait', status: 'sending', error: null };
const ofChild: Entry = {
  ...{ kind: 'activity', key: 'step', taskId: 'task_child', name: 'fetch', tool: null, status: 'completed' },
  ...{ attempt: 1, startedAt: '2026-12-01T12:00:00.000Z', ms: 3, error: null },
};

function keysOf(entries: Entry[]): string[][] {
  return groupTurns(entries).map((group) => group.entries.map(({ key }) => key));
}

describe('turns', () => {
  test('hold a message with everything that came of it', () => {
    const entries = [said('user', 'task_1', 'u1'), ofChild, asked, said('assistant', 'task_1', 'a1'), outgoing];

    expect(keysOf(entries)).toEqual([['u1', 'step', 'qst_1', 'a1'], ['out']]);
  });

  test('that stand behind each other keep apart what is said in them', () => {
    const entries = [
      said('user', 'task_1', 'u1'),
      said('user', 'task_2', 'u2'),
      said('assistant', 'task_1', 'a1'),
      asked,
      said('assistant', 'task_2', 'a2'),
    ];

    expect(keysOf(entries)).toEqual([['u1'], ['u2'], ['a1', 'qst_1'], ['a2']]);
  });

  test('have a task of their own, or none while their message is on its way', () => {
    const groups = groupTurns([said('user', 'task_1', 'u1'), outgoing]);

    expect(groups.map(({ taskId }) => taskId)).toEqual(['task_1', null]);
  });

  test('that begin in the middle are shown from there', () => {
    expect(keysOf([said('assistant', 'task_1', 'a1'), said('user', 'task_2', 'u2')])).toEqual([['a1'], ['u2']]);
  });

  test('are the same as long as their entries are', () => {
    const entries = [said('user', 'task_1', 'u1'), said('assistant', 'task_1', 'a1')];
    const [before] = groupTurns(entries);
    const [after] = groupTurns([...entries]);
    const [more] = groupTurns([...entries, asked]);

    expect(before && after && isSameGroup(before, after)).toBe(true);
    expect(before && more && isSameGroup(before, more)).toBe(false);
  });
});

describe('blocks of turns', () => {
  const many = Array.from({ length: 2000 }, (_, n) => said('user', `task_${n}`, `msg_${(n * 7919).toString(36)}`));

  test('are few, and hold every turn in its order', () => {
    const blocks = toBlocks(groupTurns(many));

    expect(blocks.flat().map(({ key }) => key)).toEqual(many.map(({ key }) => key));
    expect(blocks.length).toBeLessThan(800);
  });

  test('stay as they are but one, whatever comes in front and behind', () => {
    const some = toBlocks(groupTurns(many.slice(500, 1500)));
    const all = toBlocks(groupTurns(many));
    const isKept = (block: (typeof some)[number]) => all.some((other) => isSameBlock(block, other));

    expect(some.slice(1, -1).every(isKept)).toBe(true);
  });
});
