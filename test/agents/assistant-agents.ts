import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { askUserQuestions } from '../../src/agents/ask-user-questions.ts';
import { createAssistant } from '../../src/agents/create-assistant.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import type { TaskHandle, Turn } from '../../src/model/agent.ts';
import { defineAgent } from '../../src/worker/define-agent.ts';
import { createScriptedModel } from './scripted-model.ts';

/** Writes a line into the file that `TOOL_FILE` names: whoever reads it sees what has really run. */
const note = defineTool({
  name: 'note',
  description: 'Notes a line.',
  input: z.object({ line: z.string() }),
  run: ({ line }) => {
    appendFileSync(process.env.TOOL_FILE ?? '', `${line}\n`);
    return { noted: line };
  },
});

const fails = defineTool({
  name: 'fails',
  description: 'Fails.',
  input: z.object({}),
  run: () => {
    throw new Error('The disk of the tool is full.');
  },
});

const hangs = defineTool({
  name: 'hangs',
  description: 'Never ends.',
  input: z.object({}),
  timeoutMs: 50,
  run: () => new Promise(() => {}),
});

/** Both of its calls must be there before either ends. */
const meets = defineTool({
  name: 'meets',
  description: 'Waits for another call of itself.',
  input: z.object({ of: z.string() }),
  run: ({ of }, { toolCallId }) => {
    const others = waiting.get(of) ?? [];
    return new Promise<string>((resolve) => {
      others.push(() => resolve(toolCallId));
      waiting.set(of, others);
      if (others.length === 2) for (const go of others) go();
    });
  },
});
const waiting = new Map<string, (() => void)[]>();

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ euros: z.number() }),
  needsApproval: ({ euros }) => euros > 10,
  once: true,
  run: ({ euros }, { idempotencyKey }) => ({ paid: euros, key: idempotencyKey.length }),
});

/** Three turns, much alike in length. */
const TURNS: Turn[] = ['one', 'two', 'six'].map((word) => ({
  taskId: `task_${word}`,
  status: 'completed',
  entries: [
    { kind: 'message', role: 'user', content: `${word} `.repeat(200), status: 'complete' },
    { kind: 'message', role: 'assistant', content: `That was ${word}.`, status: 'complete' },
  ],
}));

const listener = createAssistant({ name: 'listener', system: 'You remember.', tools: [note] });

/** An assistant with a past. */
const remembering = defineAgent<{ message: string }>({
  name: 'remembering',
  run: (task, input) => {
    const conversation = { id: 'conv_1', history: async () => TURNS };
    return listener.run({ ...task, conversation } satisfies TaskHandle, input);
  },
});

export default [
  remembering,
  createAssistant({
    name: 'worker-bee',
    system: 'You are a bee.',
    tools: [note, fails, hangs, meets, pay, askUserQuestions],
  }),
  createAssistant({ name: 'two-steps', system: 'Be quick.', tools: [note], maxSteps: 2 }),
  createAssistant({ name: 'settled-elsewhere', tools: [note] }),
  createAssistant({ name: 'own-model', model: createScriptedModel('I am my own.') }),
];
