import { describe, expect, test } from 'vitest';
import type { Story } from '../story.ts';
import { closedMessages } from './closed-messages.ts';
import { goodStory, PARENT } from './good-story.ts';
import { again, changed, type Happened, is, retold, without } from './hand-made-log.ts';

const judged = (story: Story) => Array.from(closedMessages.judge(story), ({ text }) => text);

describe('messages', () => {
  test('are void before their step runs again, and not open at the end of their task', () => {
    expect(judged(without(goodStory(), is('message.discarded')))).toEqual([
      `main.step-0 of ${PARENT} runs again, and its message is open.`,
      `${PARENT} ends with 1 messages open.`,
    ]);
  });

  test('are closed once, and say nothing afterwards', () => {
    expect(judged(again(goodStory(), is('message.completed')))).toEqual(['msg_2 is closed and was not open.']);
    expect(judged(again(goodStory(), is('message.discarded')))).toEqual(['msg_1 is closed and was not open.']);
    expect(judged(again(goodStory(), is('message.delta')))).toEqual([
      'msg_1 goes on and is not open.',
      'msg_2 goes on and is not open.',
    ]);
  });

  test('begin once', () => {
    const isSecond = (event: Happened) => is('message.started')(event) && event.data.messageId === 'msg_2';

    expect(judged(changed(goodStory(), isSecond, { messageId: 'msg_1' }))).toContain('msg_1 is started again.');
  });

  test('have the text of their deltas', () => {
    expect(judged(changed(goodStory(), is('message.delta'), { text: 'hell' }))).toEqual([
      'msg_2 has another text than its deltas.',
    ]);
  });

  test('of an attempt that came to nothing are not kept', () => {
    const kept = retold(goodStory(), (log) =>
      log.map((event) => {
        if (!is('message.discarded')(event)) return event;
        const message = { id: 'msg_1', status: 'complete', content: 'lo' };
        return { ...event, type: 'message.completed', data: { message } };
      }),
    );

    expect(judged(kept)).toEqual([`main.step-0 of ${PARENT} keeps a message of attempt 1.`]);
  });
});
