import { expect, test } from 'vitest';
import { foldOf } from '../../src/client/conversation/conversation-fold.ts';
import { questionResolved } from '../../src/client/conversation/fold-questions.ts';
import { createFolding } from '../../src/client/conversation/folding.ts';
import { createMadeLog, madeTask, outline } from './made-log.ts';

/** A page that was opened once all this had happened: what it reads, and what it is told again. */
function opened() {
  const log = createMadeLog();
  const task = log.id('task');
  const first = log.question(task, 'first');
  const second = log.question(task, 'second');
  log.add(task, 'question.asked', { question: first });
  log.add(task, 'question.declined', { questionId: first.id, reason: null, resolvedBy: 'ada' });
  log.add(task, 'question.asked', { question: second });
  const read = log.read({ unfinishedTasks: [madeTask(task, 'waiting')], pendingQuestions: [second] });
  const head = log.events.length;
  return { log, task, second, events: [...log.events], read: { ...read, resumeAfter: `made.0.${head}` } };
}

test('what was read is shown until all that is unfinished has been told again', () => {
  const { events, read } = opened();
  const folding = createFolding();
  folding.begin(foldOf(read, [], new Map()));
  const base = folding.shown();

  for (const event of events) folding.tell(event);
  const meanwhile = folding.shown();
  folding.tell({ type: 'caught-up', id: 'made.3' });

  expect(outline(base.entries)).toEqual(['second pending']);
  expect(meanwhile).toBe(base);
  expect(outline(folding.shown().entries)).toEqual(['first declined', 'second pending']);
});

test('what happens now ends that as well', () => {
  const { log, task, events, read } = opened();
  const folding = createFolding();
  folding.begin(foldOf(read, [], new Map()));
  for (const event of events) folding.tell(event);

  folding.tell(log.add(task, 'step.started', { name: 'work', attempt: 1 }));

  expect(outline(folding.shown().entries)).toEqual(['first declined', 'second pending', 'work running']);
});

test('what was shown before stays while all is read and told again, and takes what is known from elsewhere', () => {
  const { second, events, read } = opened();
  const folding = createFolding();
  folding.begin(foldOf({ ...read, resumeAfter: 'made.0' }, [], new Map()));
  for (const event of events) folding.tell(event);
  const before = folding.shown();

  folding.begin(foldOf(read, [], new Map()));
  expect(folding.shown()).toBe(before);
  folding.change((state) => questionResolved(state, { ...second, status: 'answered' }));

  expect(outline(folding.shown().entries)).toEqual(['first declined', 'second answered']);
  expect(folding.truth().questions).toEqual([]);
});

test('without anything unfinished what was read is shown at once', () => {
  const log = createMadeLog();
  const folding = createFolding();
  folding.begin(foldOf(log.read(), [log.write(log.id('task'), 'old')], new Map()));

  folding.begin(foldOf(log.read(), [log.write(log.id('task'), 'new')], new Map()));

  expect(outline(folding.shown().entries)).toEqual(['user: new']);
  expect(folding.shown()).toBe(folding.truth());
});
