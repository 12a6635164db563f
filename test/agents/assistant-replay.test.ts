import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createAssistant } from '../../src/agents/create-assistant.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { Report } from '../../src/worker/protocol.ts';
import { MainSide } from '../support/worker-main-side.ts';
import { createScriptedModel, type ScriptedModel } from './scripted-model.ts';

const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}), run: () => 'There is a sea.' });

/** A tool that nobody may use twice, and that never says whether it has done its work. */
const jump = defineTool({
  name: 'jump',
  description: 'Jumps.',
  input: z.object({}),
  once: true,
  run: () => new Promise(() => {}),
});

const INPUT = { message: 'Where am I?' };

async function startAssistant(model: ScriptedModel): Promise<MainSide> {
  const main = new MainSide([createAssistant({ model, system: '', tools: [look, jump] })]);
  await main.next('ready');
  main.start('assistant', { input: INPUT });
  return main;
}

/** Commits what comes, up to and including the first report that `wanted` takes. */
async function commitUntil(main: MainSide, wanted: (report: Report) => boolean): Promise<Report> {
  for (;;) {
    const report = await main.any();
    if ('n' in report) main.ack(report);
    if (wanted(report)) return report;
  }
}

const isEnd = ({ kind }: Report) => kind === 'end';
const isInbox = (key: string) => (report: Report) => report.kind === 'inbox' && report.key === key;
const isStart = (name: string) => (report: Report) => report.kind === 'startStep' && report.step.name === name;

/** What the user has said, as a call of the model was told: messages in a row are one. */
function userTexts(model: ScriptedModel, call: number): string[] {
  return (model.asked[call]?.prompt ?? []).flatMap((message) =>
    message.role === 'user' ? message.content.map((part) => (part.type === 'text' ? part.text : '')) : [],
  );
}

describe('an assistant that is steered', () => {
  test('sees the message at its next step', async () => {
    const model = createScriptedModel({ calls: ['look'] }, 'By the sea.');
    const main = await startAssistant(model);

    await commitUntil(main, isStart('model'));
    main.journal.inbox.push({ messageId: 'msg_1', content: 'Be short.' });
    await commitUntil(main, isEnd);
    main.close();

    expect(userTexts(model, 0)).toEqual(['Where am I?']);
    expect(userTexts(model, 1)).toEqual(['Where am I?', 'Be short.']);
    expect(model.asked[1]?.prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
  });

  test('sees it once when it is lost right after it was taken', async () => {
    const model = createScriptedModel({ calls: ['look'] }, 'By the sea.');
    const main = await startAssistant(model);

    await commitUntil(main, isStart('model'));
    main.journal.inbox.push({ messageId: 'msg_1', content: 'Be short.' });
    await commitUntil(main, isInbox('inbox#2'));
    await main.replay({ input: INPUT });
    const end = await commitUntil(main, isEnd);
    main.close();

    expect(userTexts(model, 1)).toEqual(['Where am I?', 'Be short.']);
    expect(model.asked).toHaveLength(2);
    expect(end).toMatchObject({ ending: { output: { text: 'By the sea.', steps: 2 } } });
  });

  test('answers a message that comes during its last answer too', async () => {
    const model = createScriptedModel('By the sea.', 'As I said.');
    const main = await startAssistant(model);

    await commitUntil(main, isStart('model'));
    main.journal.inbox.push({ messageId: 'msg_1', content: 'Sure?' }, { messageId: 'msg_2', content: 'Really?' });
    const end = await commitUntil(main, isEnd);
    main.close();

    expect(userTexts(model, 1)).toEqual(['Where am I?', 'Sure?\n\nReally?']);
    expect(end).toMatchObject({ ending: { output: { text: 'As I said.', steps: 2 } } });
  });
});

describe('an assistant that was lost', () => {
  test('does not call again a tool that runs once, and tells the model that nobody knows', async () => {
    const model = createScriptedModel({ calls: ['jump'] }, 'I may have jumped.');
    const main = await startAssistant(model);

    await commitUntil(main, isStart('tool-1-jump'));
    await main.replay({ input: INPUT });
    const end = await commitUntil(main, isEnd);
    main.close();

    expect(end).toMatchObject({ ending: { output: { text: 'I may have jumped.' } } });
    expect(model.asked[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: expect.stringContaining('Nobody knows how far it came') } }],
    });
  });

  test('does not call the model again for an answer that is there', async () => {
    const model = createScriptedModel({ calls: ['look', 'look'] }, 'By the sea.');
    const main = await startAssistant(model);

    await commitUntil(main, (report) => report.kind === 'settleStep' && report.step.name === 'tool-2-look');
    await main.replay({ input: INPUT });
    const end = await commitUntil(main, isEnd);
    main.close();

    expect(model.asked).toHaveLength(2);
    expect(end).toMatchObject({ ending: { output: { steps: 2, usage: { totalTokens: 30 } } } });
  });
});
