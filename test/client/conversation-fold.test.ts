import { expect, test } from 'vitest';
import { addMessages, fold, foldOf } from '../../src/client/conversation/conversation-fold.ts';
import { withAlias } from '../../src/client/conversation/fold-messages.ts';
import { questionResolved } from '../../src/client/conversation/fold-questions.ts';
import { createMadeLog, foldAll, madeTask, outline } from './made-log.ts';

const error = { code: 'agent_error', message: 'No.' } as const;

test('a turn stands in the order of the log', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const step = { name: 'tool-1', attempt: 1 };
  log.write(task, 'Hello');
  log.add(task, 'task.created', { agent: 'made', input: null, parentId: null, retryOf: null });
  log.add(task, 'task.started', { attempt: 1 });
  log.add(task, 'step.started', step);
  log.add(task, 'tool.called', { toolCallId: 'call', name: 'look', input: 1 }, { step });
  const answer = log.said(task, 'It is so.');
  log.add(task, 'message.started', { messageId: answer.id, role: 'assistant' });
  log.add(task, 'message.delta', { messageId: answer.id, text: 'It ' });
  log.add(task, 'question.asked', { question: log.question(task, 'sure') });
  log.add(task, 'message.delta', { messageId: answer.id, text: 'is' });

  const { entries, unfinished, questions, cursor } = foldAll(log);

  expect(outline(entries)).toEqual(['user: Hello', 'look running', 'writing: It is', 'sure pending']);
  expect(unfinished).toMatchObject([{ taskId: task, rootId: task, agent: 'made', status: 'running', attempt: 1 }]);
  expect(questions).toHaveLength(1);
  expect(cursor).toBe('made.9');
});

test('what is complete takes the place of what deltas have built', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const answer = log.said(task, 'Whole.');
  log.add(task, 'message.started', { messageId: answer.id, role: 'assistant' });
  log.add(task, 'message.delta', { messageId: answer.id, text: 'Wh' });
  const before = foldAll(log);
  log.add(task, 'message.completed', { message: answer });

  const after = foldAll(log);

  expect(outline(after.entries)).toEqual(['assistant: Whole.']);
  expect(after.entries[0]?.key).toBe(before.entries[0]?.key);
});

test('what was read as complete stays the same object, whatever is told of it again, and comes to its place', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const asked = log.write(task, 'Hello');
  log.add(task, 'step.started', { name: 'work', attempt: 1 });
  const answer = log.said(task, 'Whole.');
  log.add(task, 'message.started', { messageId: answer.id, role: 'assistant' });
  log.add(task, 'message.delta', { messageId: answer.id, text: 'Wh' });
  log.add(task, 'message.completed', { message: { ...answer } });
  const read = foldOf(log.read({ unfinishedTasks: [madeTask(task)] }), [asked, answer], new Map());

  const told = log.events.reduce(fold, read);

  expect(outline(read.entries)).toEqual(['user: Hello', 'assistant: Whole.']);
  expect(outline(told.entries)).toEqual(['user: Hello', 'work running', 'assistant: Whole.']);
  expect(told.entries[2]).toBe(read.entries[1]);
});

test('a message of a turn that ended while another one waited keeps its place among what is told again', () => {
  const log = createMadeLog();
  const [first, second] = [log.id('task'), log.id('task')];
  const asked = log.write(first, 'First');
  log.add(first, 'step.started', { name: 'before', attempt: 1 });
  const other = log.write(second, 'Second');
  log.add(first, 'step.started', { name: 'behind', attempt: 1 });
  const read = foldOf(log.read({ unfinishedTasks: [madeTask(first)] }), [asked, other], new Map());

  const told = log.events.filter(({ taskId }) => taskId === first).reduce(fold, read);

  expect(outline(told.entries)).toEqual(['user: First', 'before running', 'user: Second', 'behind running']);
});

test('an answer that had begun before the next message was written stands before it, also when it was stored later', () => {
  const log = createMadeLog();
  const [first, second] = [log.id('task'), log.id('task')];
  const asked = log.write(first, 'First');
  log.add(first, 'task.started', { attempt: 1 });
  const answer = log.said(first, 'Answer');
  const other = log.write(second, 'Second');
  log.add(first, 'message.completed', { message: answer });

  const read = foldOf(log.read(), [asked, other, { ...answer, createdAt: log.now() }], new Map());

  expect(outline(read.entries)).toEqual(['user: First', 'assistant: Answer', 'user: Second']);
});

test('the one message of a turn that has said nothing stands at its end, though it has an id of its beginning', () => {
  const log = createMadeLog();
  const [first, second] = [log.id('task'), log.id('task')];
  const asked = log.write(first, 'First');
  const other = log.write(second, 'Second');
  log.add(first, 'task.cancelled', { reason: null });
  const empty = log.said(first, '', first.replace('task_', 'msg_'));

  const read = foldOf(log.read(), [asked, other, empty], new Map());

  expect(outline(read.entries)).toEqual(['user: First', 'user: Second', 'assistant: ']);
});

test('a steered message that begins a turn is told again and does not move, and is of that turn from then on', () => {
  const log = createMadeLog();
  const [first, second] = [log.id('task'), log.id('task')];
  log.write(first, 'First');
  const steered = log.write(first, 'Steered');
  log.add(first, 'step.started', { name: 'work', attempt: 1 });
  log.add(first, 'task.completed', { output: null });
  log.add(second, 'message.completed', { message: { ...steered, taskId: second } });

  const { entries } = foldAll(log);

  expect(outline(entries)).toEqual(['user: First', 'user: Steered', 'work failed']);
  expect(entries[1]).toMatchObject({ message: { taskId: second } });
});

test('a steered message that was read does not move to the beginning of the turn that it has begun', () => {
  const log = createMadeLog();
  const [first, second] = [log.id('task'), log.id('task')];
  log.write(first, 'First');
  const steered = { ...log.write(first, 'Steered'), taskId: second };
  log.add(first, 'task.started', { attempt: 1 });
  const answer = log.said(first, 'Answer');
  const read = foldOf(log.read({ unfinishedTasks: [madeTask(second)] }), [steered, answer], new Map());

  const told = fold(read, log.add(second, 'message.completed', { message: steered }));

  expect(outline(told.entries)).toEqual(['user: Steered', 'assistant: Answer']);
});

test('a message that is discarded goes', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const messageId = log.id('msg');
  log.add(task, 'message.started', { messageId, role: 'assistant' });
  log.add(task, 'message.discarded', { messageId, reason: 'step_failed' });
  log.add(task, 'message.delta', { messageId, text: 'late' });

  expect(foldAll(log).entries).toEqual([]);
});

test('a higher attempt of a step voids what the lower one sent, in its place', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const messageId = log.id('msg');
  log.add(task, 'step.started', { name: 'work', attempt: 1 });
  log.add(task, 'step.started', { name: 'other', attempt: 1 });
  log.add(task, 'message.started', { messageId, role: 'assistant' }, { step: { name: 'work', attempt: 1 } });
  const before = foldAll(log);
  log.add(task, 'step.started', { name: 'work', attempt: 2 });

  const after = foldAll(log);

  expect(outline(before.entries)).toEqual(['work running', 'other running', 'writing: ']);
  expect(outline(after.entries)).toEqual(['work running', 'other running']);
  expect(after.entries[0]).toMatchObject({ attempt: 2, key: before.entries[0]?.key });
});

test('a step that begins with the same number again, since its journal was cut, is another one', () => {
  const log = createMadeLog();
  const task = log.id('task');
  log.add(task, 'step.started', { name: 'work', attempt: 1 });
  log.add(task, 'step.failed', { name: 'work', attempt: 1, error, retryInMs: null });
  log.add(task, 'task.retrying', { attempt: 1, error, retryAt: log.now() });
  log.add(task, 'task.started', { attempt: 2 });
  log.add(task, 'step.started', { name: 'work', attempt: 1 });

  const { entries } = foldAll(log);

  expect(outline(entries)).toEqual(['work failed', 'work running']);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(2);
});

test('a step that is a tool is one activity, which has what it gave back', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const step = { name: 'tool-1', attempt: 1 };
  log.add(task, 'step.started', step);
  log.add(task, 'tool.called', { toolCallId: 'call', name: 'look', input: 1 }, { step });
  log.add(task, 'tool.returned', { toolCallId: 'call', output: 2 }, { step });
  log.add(task, 'step.completed', { ...step, ms: 5 });

  expect(foldAll(log).entries).toMatchObject([
    { name: 'look', tool: { input: 1, output: 2, truncated: false }, status: 'completed', ms: 5, error: null },
  ]);
});

test('a tool that fails has its error', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const step = { name: 'tool-1', attempt: 1 };
  log.add(task, 'step.started', step);
  log.add(task, 'tool.called', { toolCallId: 'call', name: 'look', input: 1 }, { step });
  log.add(task, 'tool.returned', { toolCallId: 'call', error }, { step });
  log.add(task, 'step.failed', { ...step, error, retryInMs: null });

  expect(foldAll(log).entries).toMatchObject([{ name: 'look', status: 'failed', error, ms: 3000 }]);
});

test('a step that is a say is shown as what it says, and one that speaks in its middle as both', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const say = { step: { name: 'say', attempt: 1 } };
  const think = { step: { name: 'think', attempt: 1 } };
  log.add(task, 'step.started', think.step);
  log.add(task, 'step.started', say.step);
  log.add(task, 'message.started', { messageId: log.id('msg'), role: 'assistant' }, say);
  log.add(task, 'message.started', { messageId: log.id('msg'), role: 'assistant' }, think);

  expect(outline(foldAll(log).entries)).toEqual(['think running', 'writing: ', 'writing: ']);
});

test('what a child does and says is shown, and what became of it is not', () => {
  const log = createMadeLog();
  const [root, child] = [log.id('task'), log.id('task')];
  const more = { rootId: root };
  log.add(root, 'task.created', { agent: 'made', input: null, parentId: null, retryOf: null });
  log.add(child, 'task.created', { agent: 'young', input: null, parentId: root, retryOf: null }, more);
  log.add(child, 'step.started', { name: 'work', attempt: 1 }, more);
  log.add(child, 'message.started', { messageId: log.id('msg'), role: 'assistant' }, more);
  const before = foldAll(log);
  log.add(child, 'task.cancelled', { reason: 'parent_finished' }, more);
  log.add(root, 'task.cancelled', { reason: 'interrupted' });

  const after = foldAll(log);

  expect(before.unfinished).toMatchObject([{ taskId: root }, { taskId: child, rootId: root, agent: 'young' }]);
  expect(outline(before.entries)).toEqual(['work running', 'writing: ']);
  expect(after.unfinished).toEqual([]);
  expect(outline(after.entries)).toEqual(['work failed', 'writing: ', 'cancelled']);
  expect(after.entries[2]).toMatchObject({ notice: { type: 'cancelled', reason: 'interrupted' } });
});

test('the notice of a recovery stays, and that of a retry goes with the next attempt', () => {
  const log = createMadeLog();
  const task = log.id('task');
  log.add(task, 'task.recovered', { attempt: 1, reason: 'crashed' });
  log.add(task, 'task.started', { attempt: 2 });
  log.add(task, 'task.retrying', { attempt: 2, error, retryAt: log.now() });
  const before = foldAll(log);
  log.add(task, 'task.started', { attempt: 3 });
  log.add(task, 'task.failed', { error });

  expect(outline(before.entries)).toEqual(['recovered', 'retrying']);
  expect(outline(foldAll(log).entries)).toEqual(['recovered', 'failed']);
});

test('a task tells why it waits, and goes when it ends', () => {
  const log = createMadeLog();
  const task = log.id('task');
  log.add(task, 'task.created', { agent: 'made', input: null, parentId: null, retryOf: null });
  log.add(task, 'task.progress', { fraction: 0.5, note: null });
  log.add(task, 'task.waiting', { questionIds: [], until: '2026-12-01T00:00:00.000Z', for: ['people', 'timer'] });
  const waiting = foldAll(log).unfinished;
  log.add(task, 'task.resumed', {});
  const resumed = foldAll(log).unfinished;
  log.add(task, 'task.completed', { output: null });

  const waitingUntil = '2026-12-01T00:00:00.000Z';
  expect(waiting).toMatchObject([{ status: 'waiting', waitingFor: ['people', 'timer'], waitingUntil }]);
  expect(resumed).toMatchObject([
    { status: 'running', waitingFor: [], waitingUntil: null, progress: { fraction: 0.5 } },
  ]);
  expect(foldAll(log).unfinished).toEqual([]);
});

test('a question is resolved in its place', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const question = log.question(task, 'sure');
  log.add(task, 'question.asked', { question });
  log.add(task, 'step.started', { name: 'work', attempt: 1 });
  log.add(task, 'question.answered', { questionId: question.id, answers: { sure: true }, resolvedBy: 'ada' });

  const { entries, questions } = foldAll(log);

  const resolved = { answers: { sure: true }, resolvedBy: 'ada', reason: null, resolvedAt: log.now() };
  expect(entries[0]).toMatchObject({ question: { ...question, status: 'answered', ...resolved } });
  expect(questions).toEqual([]);
});

test.each([
  ['question.declined', { reason: 'Later.', resolvedBy: 'ada' }, 'declined'],
  ['question.expired', { resolvedBy: null }, 'expired'],
  ['question.cancelled', { reason: 'interrupted', resolvedBy: null }, 'cancelled'],
] as const)('%s is an end of a question as well', (type, how, status) => {
  const log = createMadeLog();
  const task = log.id('task');
  const question = log.question(task, 'sure');
  log.add(task, 'question.asked', { question });
  log.add(task, type, { questionId: question.id, ...how } as never);

  const { entries, questions } = foldAll(log);

  expect(entries).toMatchObject([{ question: { status, ...how, answers: null } }]);
  expect(questions).toEqual([]);
});

test('a question that is known as resolved is not pending again because its asking is told', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const question = log.question(task, 'sure');
  const read = foldOf(log.read({ pendingQuestions: [question] }), [], new Map());
  const resolved = questionResolved(read, { ...question, status: 'answered', answers: { sure: 1 } });

  const told = fold(resolved, log.add(task, 'question.asked', { question }));

  expect(read.questions).toEqual([question]);
  expect(told.questions).toEqual([]);
  expect(outline(told.entries)).toEqual(['sure answered']);
});

test('pages of older messages come in front, each message once', () => {
  const log = createMadeLog();
  const [first, second, third] = ['1', '2', '3'].map((content) => log.write(log.id('task'), content));
  if (first === undefined || second === undefined || third === undefined) throw new Error('unreachable');
  log.add(third.taskId, 'step.started', { name: 'work', attempt: 1 });
  const read = fold(foldOf(log.read(), [third], new Map()), log.events[3] as never);

  const older = addMessages(read, [first, second, third]);

  expect(outline(older.entries)).toEqual(['user: 1', 'user: 2', 'user: 3', 'work running']);
});

test('a message that was outgoing keeps the key of its entry', () => {
  const log = createMadeLog();
  const message = log.write(log.id('task'), 'Hello');
  const read = withAlias(foldOf(log.read(), [], new Map()), message.id, 'mine');

  const told = log.events.reduce(fold, read);

  expect(told.entries).toMatchObject([{ kind: 'message', key: 'mine' }]);
  expect(addMessages(told, [message]).entries).toBe(told.entries);
});

test('a conversation is renamed, and deleted', () => {
  const log = createMadeLog();
  const { unfinishedTasks, pendingQuestions, resumeAfter, ...conversation } = log.read();
  log.add(null, 'conversation.updated', { conversation: { ...conversation, title: 'Lisbon' } });
  const renamed = foldAll(log);
  log.add(null, 'conversation.deleted', { conversationId: conversation.id });

  expect(renamed).toMatchObject({ conversation: { title: 'Lisbon' }, isDeleted: false });
  expect(foldAll(log).isDeleted).toBe(true);
});

test('objects that an event does not concern stay the same objects', () => {
  const log = createMadeLog();
  const task = log.id('task');
  const messageId = log.id('msg');
  log.write(task, 'Hello');
  log.add(task, 'task.created', { agent: 'made', input: null, parentId: null, retryOf: null });
  log.add(task, 'message.started', { messageId, role: 'assistant' });
  const before = foldAll(log);

  const after = fold(before, log.add(task, 'message.delta', { messageId, text: 'x' }));

  expect(after.entries[0]).toBe(before.entries[0]);
  expect(after.unfinished).toBe(before.unfinished);
  expect(after.questions).toBe(before.questions);
});

test('what it does not know it passes over: events of agents, and those of a newer server', () => {
  const log = createMadeLog();
  const before = foldAll(log);
  const place = { taskId: log.id('task'), conversationId: null, at: log.now() };

  const after = [
    { ...place, id: 'made.1', seq: 1, type: 'party.booked', data: { price: 12 } } as const,
    { ...place, id: 'made.2', seq: 2, type: 'task.paused', data: {} } as const,
    { type: 'caught-up', id: 'made.3' } as const,
  ].reduce(fold, before);

  expect(after).toEqual({ ...before, cursor: 'made.3' });
});

test('a delta costs little among two thousand entries', () => {
  const log = createMadeLog();
  const messages = Array.from({ length: 2000 }, (_, n) => log.write(log.id('task'), `${n}`));
  const messageId = log.id('msg');
  const pages = Array.from({ length: 10 }, (_, n) => messages.slice(1800 - 200 * n, 2000 - 200 * n));
  const read = pages.reduce(addMessages, foldOf(log.read(), [], new Map()));
  const started = fold(read, log.add(log.id('task'), 'message.started', { messageId, role: 'assistant' }));
  const delta = log.add(log.id('task'), 'message.delta', { messageId, text: 'word ' });
  const begin = performance.now();

  const written = Array.from({ length: 20_000 }, () => delta).reduce(fold, started);

  expect(performance.now() - begin).toBeLessThan(2000);
  expect(written.entries.at(-1)).toMatchObject({ kind: 'text', text: 'word '.repeat(20_000) });
});
