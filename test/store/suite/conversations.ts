import { describe, expect, test } from 'vitest';
import type { ConversationRecord } from '../../../src/model/conversation.ts';
import { newEvent } from '../../../src/model/event.ts';
import type { TaskRecord } from '../../../src/model/task.ts';
import type { MessageFilter, Store } from '../../../src/store/store.ts';
import { noteEvents, Owner } from '../../support/store-owner.ts';
import type { Engine } from '../store.suite.ts';

export function testConversations(store: () => Store): void {
  describe('conversations', () => {
    test('are given back as they were written', async () => {
      const ann = new Owner(store());
      const [bare, named] = [await ann.open(), await ann.open({ title: 'Lisboa 😀', metadata: { n: [1, null] } })];

      expect(bare).toMatchObject({ title: null, metadata: {}, agent: null, prunedSeq: 0, deletedAt: null });
      expect(await ann.conversation(bare.id)).toEqual(bare);
      expect(await ann.conversation(named.id)).toEqual(named);
      expect(named).toMatchObject({ title: 'Lisboa 😀', metadata: { n: [1, null] } });
    });

    test('are told in the log, and in their own stream, as events of no task', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      await ann.open();
      await ann.update(id, { title: 'Porto' });

      const told = await ann.read({ scope: { kind: 'conversation', conversationId: id } });

      expect(told.events).toMatchObject([
        { seq: 1, type: 'conversation.created', taskId: null, rootId: null, conversationId: id },
        { seq: 3, type: 'conversation.updated', taskId: null, rootId: null, conversationId: id },
      ]);
      expect(await ann.seqs()).toEqual([1, 2, 3]);
    });

    test('have the events of all their tasks and of their children in their stream, and no others', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      const child = await ann.spawn(turn, 'child');
      await ann.start();
      const beside = await ann.create({ conversationId: id });

      const { events } = await ann.read({ scope: { kind: 'conversation', conversationId: id } });

      expect(events.map(({ taskId, rootId }) => [taskId, rootId])).toEqual([
        [null, null],
        [turn.id, turn.id],
        [turn.id, turn.id],
        [turn.id, turn.id],
        [child.id, turn.id],
        [beside.id, beside.id],
      ]);
      expect(events.every(({ conversationId }) => conversationId === id)).toBe(true);
    });

    test('know where their unfinished work begins', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      await ann.create();
      expect(await store().unfinishedFrom(ann.name, id)).toBeNull();

      const turn = await ann.claim((await ann.post(id, 'a')).id);
      expect(await store().unfinishedFrom(ann.name, id)).toBe(turn.firstSeq - 1);
      const next = await ann.post(id, 'b');
      await ann.finish(turn);

      expect(await store().unfinishedFrom(ann.name, id)).toBe(next.firstSeq - 1);
    });

    test('are retold by what is unfinished in them', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const done = await ann.claim((await ann.post(id, 'a')).id);
      await ann.finish(done);
      const open = await ann.post(id, 'b');
      const scope = { kind: 'conversation', conversationId: id } as const;

      const { events } = await ann.read({ scope, unfinishedAt: (await store().log(ann.name)).head });

      expect(events.map(({ taskId }) => taskId)).toEqual([open.id, open.id]);
    });

    test("are nobody else's", async () => {
      const [ann, ben] = [new Owner(store()), new Owner(store())];
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      await ann.finish(turn);
      await ben.create();

      expect(await store().conversation(ben.name, id)).toBeNull();
      expect(await store().listConversations(ben.name, { limit: 9 })).toEqual([]);
      expect(await store().listMessages(ben.name, { conversationId: id, order: 'asc', limit: 9 })).toEqual([]);
      expect(await store().listTasks(ben.name, { conversationId: id, order: 'asc', limit: 9 })).toEqual([]);
      expect(await ben.seqs({ scope: { kind: 'conversation', conversationId: id }, upTo: 99 })).toEqual([]);
      await expect(ben.post(id, 'b')).rejects.toThrow('not_found');
      await expect(ben.remove(id)).rejects.toThrow('not_found');
    });
  });

  describe('listing conversations', () => {
    test('pages through all, the newest activity first, each once', async () => {
      const ann = new Owner(store());
      const opened: string[] = [];
      for (let i = 0; i < 7; i++) opened.push((await ann.open()).id);

      const seen = await pagesOf(store(), ann, 3);

      expect(seen).toEqual([opened.toReversed().slice(0, 3), opened.toReversed().slice(3, 6), [opened[0]]]);
    });

    test('moves one to the front that is changed or written in', async () => {
      const ann = new Owner(store());
      const [a, b, c] = [await ann.open(), await ann.open(), await ann.open()];
      await ann.later();

      await ann.post(a.id, 'hello');
      await ann.later();
      await ann.update(b.id, { title: 'b' });

      expect(await pagesOf(store(), ann, 9)).toEqual([[b.id, a.id, c.id]]);
    });

    test('leaves none out, and shows none twice, when one of the page before has moved', async () => {
      const ann = new Owner(store());
      const opened: ConversationRecord[] = [];
      for (let i = 0; i < 4; i++) {
        opened.push(await ann.open());
        await ann.later();
      }
      const [first] = await store().listConversations(ann.name, { limit: 1 });
      await ann.update(first?.id ?? '', { title: 'moved' });

      const after = { at: first?.lastActivityAt ?? 0, id: first?.id ?? '' };
      const rest = await store().listConversations(ann.name, { limit: 9, after });

      expect(rest.map(({ id }) => id)).toEqual(
        opened
          .slice(0, 3)
          .map(({ id }) => id)
          .reverse(),
      );
    });
  });

  describe('listing messages', () => {
    test('pages through all, both ways, each once', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      for (const content of ['a', 'b', 'c']) await ann.finish(await ann.claim((await ann.post(id, content)).id));
      const other = await ann.open();
      await ann.post(other.id, 'x');

      const all = ['a', '', 'b', '', 'c', ''];
      expect(await messagePages(store(), ann, { conversationId: id, order: 'asc', limit: 4 })).toEqual([
        all.slice(0, 4),
        all.slice(4),
      ]);
      expect(await messagePages(store(), ann, { conversationId: id, order: 'desc', limit: 4 })).toEqual([
        all.toReversed().slice(0, 4),
        all.toReversed().slice(4),
      ]);
    });

    test('gives them as the event tells them', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'Olá 😀')).id);
      await ann.begin(turn, 'reply', { messageId: 'msg_reply' });
      await ann.settle(turn, 'reply', { message: { id: 'msg_reply', content: 'Lisboa' } });
      await ann.finish(turn);

      const stored = await store().listMessages(ann.name, { conversationId: id, order: 'asc', limit: 9 });

      const told = (await ann.read()).events.filter(({ type }) => type === 'message.completed');
      expect(stored).toEqual(told.map(({ data }) => JSON.parse(data).message));
      expect(stored.map(({ role, content }) => [role, content])).toEqual([
        ['user', 'Olá 😀'],
        ['assistant', 'Lisboa'],
      ]);
    });

    test('keeps what an ended turn was saying, with what came in the transaction of its end', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      const step = JSON.stringify({ name: 'reply', attempt: 1 });
      const said = (text: string) => ({ ...newEvent(turn.id, 'message.delta', { messageId: 'msg_r', text }), step });
      await ann.begin(turn, 'reply', { messageId: 'msg_r' });
      await ann.append(turn, [said('Lis'), said('bo')]);

      await ann.post(id, 'b', { whenBusy: 'interrupt' });

      const [, partial] = await store().listMessages(ann.name, { conversationId: id, order: 'asc', limit: 9 });
      expect(partial).toMatchObject({ id: 'msg_r', content: 'Lisbo', status: 'partial', taskId: turn.id });
    });

    test('gives a message the turn that it has begun, and leaves it in its place', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      await ann.post(id, 'late', { whenBusy: 'steer' });
      await ann.finish(turn);

      const [, late] = await store().listMessages(ann.name, { conversationId: id, order: 'asc', limit: 9 });
      const [next] = await store().listTasks(ann.name, { conversationId: id, order: 'desc', limit: 1 });

      expect(late).toMatchObject({ content: 'late', taskId: next?.id });
      expect(next).toMatchObject({ isTurn: true, input: { message: 'late', conversationId: id } });
    });
  });

  describe('the history of a turn', () => {
    test('holds the turns before it, oldest first, with their tools by what became of them', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const first = await ann.claim((await ann.post(id, 'a')).id);
      await tool(ann, first, 'good', { toolCallId: 'call-1', output: { found: 1 } });
      await tool(ann, first, 'bad', { toolCallId: 'call-2', error: { code: 'agent_error', message: 'no' } });
      await tool(ann, first, 'long', { toolCallId: 'call-3', output: null, truncated: true });
      await tool(ann, first, 'cut', null, 'call-4');
      await ann.finish(first);
      await ann.create({ conversationId: id });
      const second = await ann.post(id, 'b');
      await ann.cancel(second.id);
      const third = await ann.claim((await ann.post(id, 'c')).id);

      expect(await ann.history(third)).toEqual([
        {
          taskId: first.id,
          status: 'completed',
          entries: [
            { kind: 'message', role: 'user', content: 'a', status: 'complete' },
            toolEntry('call-1', { status: 'returned', output: { found: 1 } }),
            toolEntry('call-2', { status: 'failed', error: { code: 'agent_error', message: 'no' } }),
            toolEntry('call-3', { status: 'returned', output: null, truncated: true }),
            toolEntry('call-4', { status: 'unfinished' }),
            { kind: 'message', role: 'assistant', content: '', status: 'complete' },
          ],
        },
        {
          taskId: second.id,
          status: 'cancelled',
          entries: [
            { kind: 'message', role: 'user', content: 'b', status: 'complete' },
            { kind: 'message', role: 'assistant', content: '', status: 'partial' },
          ],
        },
      ]);
    });

    test('holds a tool once that was called again, with what came of it in the end', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      const call = { toolCallId: 'call-1', name: 'look', input: { for: 'call-1' } };
      await ann.begin(turn, 'look', { tool: call });
      await ann.settle(turn, 'look', {
        outcome: { status: 'failed', error: ERROR, failure: '{"fields":{}}', retryInMs: 1 },
        tool: { toolCallId: 'call-1', error: ERROR },
      });
      await ann.begin(turn, 'look', { step: { name: 'look', attempt: 2 }, tool: call });
      await ann.finish(turn);
      const next = await ann.claim((await ann.post(id, 'b')).id);

      const [told] = await ann.history(next);

      expect(told?.entries.filter(({ kind }) => kind === 'tool')).toEqual([
        toolEntry('call-1', { status: 'unfinished' }),
      ]);
    });

    test('holds what was sent to a turn where it was taken, or in the turn that it has begun', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const first = await ann.claim((await ann.post(id, 'a')).id);
      await ann.post(id, 'taken', { whenBusy: 'steer' });
      await ann.takeInbox(first);
      await ann.post(id, 'late', { whenBusy: 'steer' });
      await ann.post(id, 'later', { whenBusy: 'steer' });
      await ann.finish(first);
      const [late, later] = [first.id, ...(await ann.turns(id))].filter((each) => each !== first.id);

      const ofLate = await ann.history(await ann.claim(late ?? ''));
      await ann.finish(await ann.task(late ?? ''));
      const ofLater = await ann.history(await ann.claim(later ?? ''));

      // Its own message is its input, and what is to come is not known yet.
      expect(ofLate.map(contents)).toEqual([['a', 'taken', '']]);
      expect(ofLater.map(contents)).toEqual([
        ['a', 'taken', ''],
        ['late', ''],
      ]);
    });

    test('holds 50 turns at most, and 512 KiB, the newest of them', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      for (let i = 0; i < 52; i++) await ann.cancel((await ann.post(id, `${i}`)).id);
      const next = await ann.claim((await ann.post(id, 'next')).id);
      const short = await ann.history(next);
      await ann.finish(next);

      const other = await ann.open();
      for (let i = 0; i < 5; i++) await ann.cancel((await ann.post(other.id, `${i}`.repeat(200_000))).id);
      const long = await ann.history(await ann.claim((await ann.post(other.id, 'next')).id));

      expect(short.map(contents)).toEqual(Array.from({ length: 50 }, (_, i) => [`${i + 2}`, '']));
      expect(long.map((turn) => contents(turn)[0]?.[0])).toEqual(['3', '4']);
    });

    test('holds what was said in turns whose events are pruned', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const first = await ann.claim((await ann.post(id, 'a')).id);
      await tool(ann, first, 'good', { toolCallId: 'call-1', output: 1 });
      await ann.finish(first);
      await ann.prune(first.id);

      const [turn] = await ann.history(await ann.claim((await ann.post(id, 'b')).id));

      expect(turn?.entries).toEqual([
        { kind: 'message', role: 'user', content: 'a', status: 'complete' },
        { kind: 'message', role: 'assistant', content: '', status: 'complete' },
      ]);
    });

    test('is empty for a task of no conversation, and for the first turn', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();

      expect(await ann.history(await ann.start())).toEqual([]);
      expect(await ann.history(await ann.claim((await ann.post(id, 'a')).id))).toEqual([]);
    });
  });

  describe('a deleted conversation', () => {
    test('is shown by no read from then on, and only its deletion is told', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      const question = await ann.ask(turn, 'month');
      const beside = await ann.create({ conversationId: id });
      const elsewhere = await ann.start();
      const foreign = await ann.ask(elsewhere, 'month');

      await ann.remove(id);

      expect(await store().conversation(ann.name, id)).toBeNull();
      expect(await store().listConversations(ann.name, { limit: 9 })).toEqual([]);
      expect(await store().listMessages(ann.name, { conversationId: id, order: 'asc', limit: 9 })).toEqual([]);
      for (const each of [turn.id, beside.id]) expect(await store().task(ann.name, each)).toBeNull();
      expect(await store().question(ann.name, question.id)).toBeNull();
      for (const filter of [{}, { conversationId: id }, { agent: 'planner' }]) {
        const tasks = await store().listTasks(ann.name, { ...filter, order: 'asc', limit: 9 });
        expect(tasks.map((task) => task.id)).toEqual('conversationId' in filter ? [] : [elsewhere.id]);
      }
      for (const filter of [{ conversationId: id }, { taskId: turn.id }]) {
        expect(await store().listQuestions(ann.name, { ...filter, limit: 9 })).toEqual([]);
      }
      expect((await store().listQuestions(ann.name, { limit: 9 })).map((each) => each.id)).toEqual([foreign.id]);
      const told = (await ann.read()).events.filter(({ conversationId }) => conversationId === id);
      expect(told.map(({ type }) => type)).toEqual(['conversation.deleted']);
      expect((await ann.read({ scope: { kind: 'root', taskId: turn.id } })).events).toEqual([]);
      expect((await ann.read({ scope: { kind: 'conversation', conversationId: id } })).events).toEqual(told);
      expect(await store().unfinishedFrom(ann.name)).toBe(elsewhere.firstSeq - 1);
    });

    test('is purged in slices, until only its deletion is left, and nothing else goes', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const kept = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      for (let i = 0; i < 4; i++) await ann.append(turn, noteEvents(turn.id, 400));
      await ann.ask(turn, 'month');
      await ann.step(turn, 'work');
      await ann.finish(turn);
      const other = await ann.claim((await ann.post(kept.id, 'b')).id);
      await ann.ask(other, 'month');
      await ann.remove(id);
      const seqs = await ann.seqs();

      let slices = 0;
      while ((await store().purgeable(9)).some((each) => each.conversationId === id)) {
        await ann.purge(id);
        slices++;
      }

      expect(slices).toBeGreaterThan(3);
      expect(await ann.seqs()).toEqual(seqs);
      expect(await store().task(ann.name, turn.id)).toBeNull();
      expect(await store().conversation(ann.name, id)).toBeNull();
      expect((await store().listConversations(ann.name, { limit: 9 })).map((each) => each.id)).toEqual([kept.id]);
      expect(await store().listMessages(ann.name, { conversationId: kept.id, order: 'asc', limit: 9 })).toHaveLength(1);
      expect(await store().listQuestions(ann.name, { conversationId: kept.id, limit: 9 })).toHaveLength(1);
      expect(await ann.task(other.id)).toMatchObject({ status: 'running' });
      await ann.finish(other);
    });

    test('is purged only when the workers of its tasks have let go', async () => {
      const ann = new Owner(store());
      const { id } = await ann.open();
      const turn = await ann.claim((await ann.post(id, 'a')).id);
      await ann.remove(id);

      for (let i = 0; i < 3; i++) await ann.purge(id);
      expect(await isPurgeable(store(), id)).toBe(true);
      await ann.release(turn);
      await ann.purge(id);

      expect(await isPurgeable(store(), id)).toBe(false);
    });
  });

  describe('the mark of a conversation', () => {
    test('moves with what is pruned of it, and not with the rest of the log', async () => {
      const ann = new Owner(store());
      const [one, two] = [await ann.open(), await ann.open()];
      const first = await ann.claim((await ann.post(one.id, 'a')).id);
      await ann.finish(first);
      const second = await ann.claim((await ann.post(two.id, 'b')).id);
      await ann.finish(second);

      await ann.prune(second.id);
      await ann.prune(first.id);

      expect((await ann.conversation(one.id)).prunedSeq).toBe((await ann.task(first.id)).lastSeq);
      expect((await ann.conversation(two.id)).prunedSeq).toBe((await ann.task(second.id)).lastSeq);
      expect((await store().log(ann.name)).prunedSeq).toBe((await ann.task(second.id)).lastSeq);
      // What was said is kept.
      expect(await store().listMessages(ann.name, { conversationId: one.id, order: 'asc', limit: 9 })).toHaveLength(2);
    });
  });
}

/** @see testQueue */
export function testTurnLanes(engine: Engine): void {
  describe('the line of a conversation', () => {
    async function given(play: (store: Store, ann: Owner, id: string) => Promise<void>): Promise<void> {
      const store = await engine.open();
      const ann = new Owner(store, 'ann');
      try {
        await play(store, ann, (await ann.open()).id);
      } finally {
        await store.close();
      }
    }
    const claimable = async (store: Store) => (await store.claimable(10)).map(({ taskId }) => taskId);

    test('offers one turn after the other, each when the one before has ended and was let go of', () =>
      given(async (store, ann, id) => {
        const [first, second, third] = [await ann.post(id, 'a'), await ann.post(id, 'b'), await ann.post(id, 'c')];
        expect(await claimable(store)).toEqual([first.id]);

        const running = await ann.claim(first.id);
        expect(await claimable(store)).toEqual([]);
        await expect(ann.claim(second.id)).rejects.toThrow('busy');
        await ann.finish(running);

        expect(await claimable(store)).toEqual([second.id]);
        await expect(ann.claim(third.id)).rejects.toThrow('busy');
        await ann.finish(await ann.claim(second.id));
        expect(await claimable(store)).toEqual([third.id]);
      }));

    test('stays closed while its turn waits, unlike that of a key', () =>
      given(async (store, ann, id) => {
        const first = await ann.claim((await ann.post(id, 'a')).id);
        const second = await ann.post(id, 'b');
        const question = await ann.ask(first, 'month');
        await ann.wait(first, ['month']);
        expect(await claimable(store)).toEqual([]);
        await expect(ann.claim(second.id)).rejects.toThrow('busy');

        await ann.answer(question.id);

        expect(await claimable(store)).toEqual([first.id]);
      }));

    test('opens for the next turn when the worker of an interrupted one has let go', () =>
      given(async (store, ann, id) => {
        const first = await ann.claim((await ann.post(id, 'a')).id);
        const second = await ann.post(id, 'b', { whenBusy: 'interrupt' });
        expect(await claimable(store)).toEqual([]);
        await expect(ann.claim(second.id)).rejects.toThrow('busy');

        await ann.release(first);

        expect(await claimable(store)).toEqual([second.id]);
      }));

    test('is not closed to the children of its turn, nor by them to it', () =>
      given(async (store, ann, id) => {
        const first = await ann.claim((await ann.post(id, 'a')).id);
        const second = await ann.post(id, 'b');
        const child = await ann.spawn(first, 'child');
        expect(await claimable(store)).toEqual([child.id]);
        const held = await ann.claim(child.id);
        await ann.requeue(first, 'drained');
        expect(await claimable(store)).toEqual([first.id]);

        await ann.finish(await ann.claim(first.id));

        // The child was cancelled with it, and its worker has not let go.
        expect(await claimable(store)).toEqual([]);
        await expect(ann.claim(second.id)).rejects.toThrow('busy');
        await ann.release(held);
        expect(await claimable(store)).toEqual([second.id]);
      }));

    test('keeps the place of a turn until its next attempt', () =>
      given(async (store, ann, id) => {
        const turn = await ann.post(id, 'a');
        const next = await ann.post(id, 'b');
        // A turn that is retried by hand keeps its place as well, behind those that were there.
        await ann.cancel(turn.id);
        const retried = await ann.retry(turn.id);
        expect(retried).toMatchObject({ isTurn: true, conversationId: id });
        expect(await claimable(store)).toEqual([next.id]);
        await ann.finish(await ann.claim(next.id));
        expect(await claimable(store)).toEqual([retried.id]);
      }));

    test('moves on when the first in it, or one behind it, is cancelled', () =>
      given(async (store, ann, id) => {
        const [first, second, third] = [await ann.post(id, 'a'), await ann.post(id, 'b'), await ann.post(id, 'c')];

        await ann.cancel(second.id);
        expect(await claimable(store)).toEqual([first.id]);
        await ann.cancel(first.id);

        expect(await claimable(store)).toEqual([third.id]);
      }));

    test('holds up no task beside the turns, no other conversation and no other owner', () =>
      given(async (store, ann, id) => {
        await ann.claim((await ann.post(id, 'a')).id);
        const beside = await ann.create({ conversationId: id });
        const other = await ann.post((await ann.open()).id, 'x');
        const ben = new Owner(store, 'ben');
        const theirs = await ben.post((await ben.open()).id, 'y');

        expect((await claimable(store)).sort()).toEqual([beside.id, other.id, theirs.id].sort());
      }));

    test('counts what is claimable rightly, whatever was blocked, ended or deleted', () =>
      given(async (store, ann, id) => {
        for (const content of ['a', 'b', 'c']) await ann.post(id, content);
        await ann.remove(id);
        await ann.purge(id);
        const next = await ann.create();

        expect(await claimable(store)).toEqual([next.id]);
      }));

    test('begins a turn for a message once, however often what it was sent to is retried', () =>
      given(async (_store, ann, id) => {
        const first = await ann.claim((await ann.post(id, 'a')).id);
        await ann.post(id, 'late', { whenBusy: 'steer' });
        await ann.cancel((await ann.post(id, 'b', { whenBusy: 'interrupt' })).id);
        await ann.release(first);

        for (let i = 0; i < 2; i++) await ann.cancel((await ann.retry(first.id)).id);

        const turns = await Promise.all((await ann.turns(id)).map((each) => ann.task(each)));
        const begun = turns.filter(({ input }) => JSON.stringify(input).includes('late'));
        expect(begun).toHaveLength(1);
        const { events } = await ann.read();
        const told = events.filter(({ taskId, type }) => taskId === begun[0]?.id && type === 'task.created');
        expect(told).toHaveLength(1);
      }));
  });
}

const ERROR = { code: 'agent_error', message: 'no' } as const;

function toolEntry(toolCallId: string, outcome: object) {
  return { kind: 'tool', toolCallId, name: 'look', input: { for: toolCallId }, outcome };
}

/** Calls a tool in a step of its own. @param returned null leaves it unfinished */
async function tool(
  ann: Owner,
  turn: TaskRecord,
  step: string,
  returned: Parameters<Owner['settle']>[2] extends { tool?: infer T } | undefined ? T : never,
  toolCallId = returned?.toolCallId ?? '',
): Promise<void> {
  await ann.begin(turn, step, { tool: { toolCallId, name: 'look', input: { for: toolCallId } } });
  if (returned != null) await ann.settle(turn, step, { tool: returned });
}

function contents({ entries }: { entries: { kind: string }[] }): string[] {
  return entries.flatMap((entry) => ('content' in entry ? [entry.content as string] : []));
}

async function pagesOf(store: Store, ann: Owner, limit: number): Promise<string[][]> {
  const pages: string[][] = [];
  let last: ConversationRecord | undefined;
  do {
    const after = last && { at: last.lastActivityAt, id: last.id };
    const page = await store.listConversations(ann.name, { limit, ...(after && { after }) });
    if (page.length > 0) pages.push(page.map(({ id }) => id));
    last = page.length === limit ? page.at(-1) : undefined;
  } while (last !== undefined);
  return pages;
}

async function messagePages(store: Store, ann: Owner, filter: MessageFilter): Promise<string[][]> {
  const pages: string[][] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.listMessages(ann.name, { ...filter, ...(after !== undefined && { after }) });
    if (page.length > 0) pages.push(page.map(({ content }) => content));
    if (page.length < filter.limit) return pages;
    after = page.at(-1)?.id;
  }
}

async function isPurgeable(store: Store, id: string): Promise<boolean> {
  return (await store.purgeable(99)).some(({ conversationId }) => conversationId === id);
}
