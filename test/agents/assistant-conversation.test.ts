import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Message } from '../../src/model/event.ts';
import type { Task } from '../../src/model/task.ts';
import { type Api, createApi, type Page } from '../support/api.ts';
import { type ChatMessage, type OpenAiStub, openOpenAiStub, type Wire } from '../support/openai-stub.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { call, roundsOf, say } from './stub-replies.ts';

let stub: OpenAiStub;
let server: ServerProcess;
let api: Api;
const scripts = new Map<string, (wire: Wire) => unknown>();

beforeAll(async () => {
  stub = await openOpenAiStub((wire) => {
    const message = wire.request.messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const answer = scripts.get(message);
    if (answer === undefined) throw new Error(`Nobody has written an answer to ${message}.`);
    return answer(wire);
  });
  server = await startServerProcess({
    agents: ['test/agents/assistant-agents.ts'],
    env: { HOLDFAST_MODEL_URL: stub.url, HOLDFAST_MODEL: 'stub-1' },
  });
  api = createApi(server.url);
});

afterAll(async () => {
  await server?.stop();
  await stub?.close();
});

interface Talk {
  /** Writes a message, and begins or steers a turn. */
  write(content: string, whenBusy?: string, agent?: string): Promise<Task>;
  /** All that was written, as a page shows it: who, and what, `partial` where it broke off. */
  messages(): Promise<string[]>;
}

async function openTalk(): Promise<Talk> {
  const { body: conversation } = await api.post<{ id: string }>('/v1/conversations', {});
  const path = `/v1/conversations/${conversation.id}/messages`;
  return {
    async write(content, whenBusy = 'interrupt', agent = 'worker-bee') {
      const { body } = await api.post<{ task: Task }>(path, { content, agent, whenBusy });
      return body.task;
    },
    async messages() {
      const { body } = await api.get<Page<Message>>(path);
      return body.items.map(
        ({ role, status, content }) => `${role}: ${content}${status === 'partial' ? ' (partial)' : ''}`,
      );
    },
  };
}

/** What the model is shown, a line a message. */
function lines(messages: readonly ChatMessage[]): string[] {
  return messages.map(({ role, content, tool_calls: calls = [] }) =>
    [`${role}:`, ...(content === null ? [] : [content]), ...calls.map(({ function: { name } }) => `→ ${name}`)].join(
      ' ',
    ),
  );
}

describe.concurrent('the assistant in a conversation', () => {
  test('knows what was said and done in the turns before', async ({ expect }) => {
    const talk = await openTalk();
    scripts.set('Pay 3 euros.', (wire) =>
      roundsOf(wire.request) === 0 ? call(wire, ['pay', { euros: 3 }]) : say(wire, 'Paid.'),
    );
    let shown: string[] = [];
    scripts.set('How much was it?', (wire) => {
      shown = lines(wire.request.messages);
      return say(wire, 'Three euros.');
    });

    await api.ended((await talk.write('Pay 3 euros.')).id);
    const second = await api.ended((await talk.write('How much was it?')).id);

    expect(second.output).toMatchObject({ text: 'Three euros.' });
    expect(shown).toEqual([
      'system: You are a bee.',
      'user: Pay 3 euros.',
      'assistant: → pay',
      'tool: {"paid":3,"key":32}',
      'assistant: Paid.',
      'user: How much was it?',
    ]);
    expect(await talk.messages()).toEqual([
      'user: Pay 3 euros.',
      'assistant: Paid.',
      'user: How much was it?',
      'assistant: Three euros.',
    ]);
  });

  test('without tools is told in words what those of another did', async ({ expect }) => {
    const talk = await openTalk();
    scripts.set('Pay 4 euros.', (wire) =>
      roundsOf(wire.request) === 0 ? call(wire, ['pay', { euros: 4 }]) : say(wire, 'Paid 4.'),
    );
    let shown: string[] = [];
    scripts.set('And what did that do?', (wire) => {
      shown = lines(wire.request.messages);
      return say(wire, 'It paid.');
    });

    await api.ended((await talk.write('Pay 4 euros.')).id);
    await api.ended((await talk.write('And what did that do?', 'interrupt', 'chat')).id);

    expect(shown.slice(1)).toEqual([
      'user: Pay 4 euros.',
      'assistant: (I called the tool pay with {"euros":4}. It gave: {"paid":4,"key":32})\n\nPaid 4.',
      'user: And what did that do?',
    ]);
  });

  test('that was interrupted is told so, and what it had said is kept', async ({ expect }) => {
    const talk = await openTalk();
    let hasBegun: () => void = () => {};
    const begun = new Promise<void>((resolve) => {
      hasBegun = resolve;
    });
    scripts.set('Count to a million.', async (wire) => {
      await wire.text('One');
      hasBegun();
    });
    let shown: string[] = [];
    scripts.set('Stop.', (wire) => {
      shown = lines(wire.request.messages);
      return say(wire, 'Stopped.');
    });

    const first = await talk.write('Count to a million.');
    await begun;
    const reader = await api.openStream(`/v1/tasks/${first.id}/events`);
    await reader.until(({ data }) => JSON.parse(data ?? '{}').type === 'message.delta');
    reader.close();
    await api.ended((await talk.write('Stop.')).id);

    expect(shown.slice(1)).toEqual([
      'user: Count to a million.',
      'assistant: One…\n\n(I did not finish this: my turn was cancelled.)',
      'user: Stop.',
    ]);
    expect(await talk.messages()).toEqual([
      'user: Count to a million.',
      'assistant: One (partial)',
      'user: Stop.',
      'assistant: Stopped.',
    ]);
  });

  test('sees a message that steers it before its next call of the model', async ({ expect }) => {
    const talk = await openTalk();
    const steered: Task[] = [];
    scripts.set('Look around.', async (wire) => {
      steered.push(await talk.write('Only to the north.', 'steer'));
      await call(wire, ['pay', { euros: 1 }]);
    });
    let shown: string[] = [];
    scripts.set('Only to the north.', (wire) => {
      shown = lines(wire.request.messages);
      return say(wire, 'There is a hill.');
    });

    const task = await talk.write('Look around.');
    const ended = await api.ended(task.id);

    expect(steered.map(({ id }) => id)).toEqual([task.id]);
    expect(ended.output).toMatchObject({ text: 'There is a hill.', steps: 2 });
    expect(shown.slice(1)).toEqual([
      'user: Look around.',
      'assistant: → pay',
      'tool: {"paid":1,"key":32}',
      'user: Only to the north.',
    ]);
  });
});
