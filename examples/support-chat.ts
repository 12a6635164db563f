/**
 * A support chat in the terminal: one conversation, with an agent that may ask back. Run it beside `npm start`:
 * `npx tsx examples/support-chat.ts [url] [conversation]`. With the id of a conversation it goes on where that is.
 */
import { createInterface } from 'node:readline';
import { createEventSource } from 'eventsource-client';

const [, , url = 'http://127.0.0.1:4747', known] = process.argv;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

const { id } = known === undefined ? await send('/v1/conversations', { title: 'Support' }) : { id: known };
const conversation = await send(`/v1/conversations/${id}`);
console.log(`This is ${id}.`);

// From where its unfinished work begins: an open question or a half-written answer comes again by itself.
const events = createEventSource(`${url}/v1/conversations/${id}/events?after=${conversation.resumeAfter}`);
let isOpen = conversation.unfinishedTasks.length > 0 || (await say());
for await (const { data } of isOpen ? events : []) {
  const { type, data: event } = JSON.parse(data);
  switch (type) {
    case 'message.delta':
      process.stdout.write(event.text);
      break;
    case 'message.completed':
      if (event.message.role === 'assistant') process.stdout.write('\n');
      break;
    case 'question.asked':
      await reply(event.question);
      break;
    case 'task.failed':
    case 'task.completed':
    case 'task.cancelled':
      if (type === 'task.failed') console.log(`That did not work: ${event.error.message}`);
      isOpen = await say();
      break;
  }
  if (!isOpen) break;
}
events.close();
process.exit();

/** Sends what the user writes; false when there is no more of it. */
async function say(): Promise<boolean> {
  const content = await read('\nyou> ');
  if (content !== '') await send(`/v1/conversations/${id}/messages`, { content, agent: 'assistant' });
  return content !== '';
}

type Option = { value: string; description?: string };
type Question = { id: string; items: { id: string; prompt: string; options?: Option[]; multiple?: boolean }[] };

/**
 * Asks for each item; a number stands for its option, an empty line for no answer at all. What has been answered already,
 * or is meanwhile by somebody else, needs no answer from here.
 */
async function reply(question: Question): Promise<void> {
  const { status } = await send(`/v1/questions/${question.id}`);
  if (status !== 'pending') return;
  const answers: { [item: string]: string | string[] } = {};
  for (const { id: item, prompt, options = [], multiple = false } of question.items) {
    const shown = options.map(({ value, description = '' }, n) => `  ${n + 1}. ${value}  ${description}`);
    console.log([prompt, ...shown].join('\n'));
    const text = await read(multiple ? 'answers, with commas> ' : 'answer> ');
    if (text === '') return resolve(question, 'decline', { reason: 'no answer' });
    const pick = (one: string) => options[Number(one) - 1]?.value ?? one.trim();
    answers[item] = multiple ? text.split(',').map(pick) : pick(text);
  }
  await resolve(question, 'answers', { answers });
}

async function resolve(question: Question, how: 'answers' | 'decline', body: object): Promise<void> {
  const resolved = await send(`/v1/questions/${question.id}/${how}`, body, 409);
  if (resolved === null) console.log('That was answered elsewhere.');
}

async function read(prompt: string): Promise<string> {
  process.stdout.write(prompt);
  return (await lines.next()).value ?? '';
}

/** Gets, or posts where there is a body. Null for the one refusal that the caller expects; any other is thrown. */
async function send(path: string, body?: object, expected?: number) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url + path, body && { method: 'POST', headers, body: JSON.stringify(body) });
  if (response.status === expected) return null;
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}
