import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { caughtUp, expectWhole, openPlain, openQuestions, toldOf } from './plain-page.ts';
import { openSite, type Site } from './site.ts';

/** docs/protocol.md §7, recovery of a page: with what every browser has, and nothing of ours in the page. */
describeInChromium('A page with an EventSource of its own', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());

  // Would fail with streams that are held back to their end, by a buffer or a compression.
  test('is told every event once, and live: while the agent still speaks', async () => {
    const id = await site.newConversation();
    const page = await openPlain(await chromium.newContext(), site.proxy.url, id);

    const { task } = await site.write(id, 'speaker', '100 10');
    await toldOf(page, 'message.delta');
    const { status } = await site.api.task(task.id);
    await toldOf(page, 'task.completed');

    expect(status).toBe('running');
    await expectWhole(page, site.api, id);
  });

  // Would fail without the retelling of §5.2.3: what was said before the reload would be missing.
  test('shows after reloads in the middle of an answer what it would have shown without them', async () => {
    const id = await site.newConversation();
    await site.write(id, 'speaker', '3 0');
    const page = await openPlain(await chromium.newContext(), site.proxy.url, id);
    const { task } = await site.write(id, 'speaker', '150 10');
    await toldOf(page, 'message.delta');

    for (let reloads = 0; reloads < 3; reloads++) {
      await page.reload();
      await toldOf(page, 'message.delta');
    }
    await toldOf(page, 'task.completed', task.id);

    await expectWhole(page, site.api, id);
  });

  // Would fail without `pendingQuestions` and the retelling, and without `question.answered` on the stream.
  test('shows a question again that was open before the reload, and closes it when it is answered', async () => {
    const id = await site.newConversation();
    const { task } = await site.write(id, 'asker', 'choice');
    const page = await openPlain(await chromium.newContext(), site.proxy.url, id);
    await toldOf(page, 'question.asked');

    await page.reload();
    await caughtUp(page);
    const before = await openQuestions(page);
    const question = await site.api.pendingQuestion(task.id);
    await site.api.answer(question.id, 'June');
    await toldOf(page, 'task.completed');

    expect(before).toEqual([question.id]);
    expect(await openQuestions(page)).toEqual([]);
    await expectWhole(page, site.api, id);
  });

  // Would fail without cursors that outlive the process, or if `Last-Event-ID` did not win over the URL.
  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'misses nothing and is told nothing twice when the server goes by %s and comes back',
    async (signal) => {
      const id = await site.newConversation();
      const page = await openPlain(await chromium.newContext(), site.proxy.url, id);
      const { task } = await site.write(id, 'speaker', '200 10');
      await toldOf(page, 'message.delta');

      await site.down(signal);
      await site.up();
      await toldOf(page, 'task.completed', task.id);

      expect(await page.evaluate(async () => (await window.plain).connects)).toBeGreaterThan(1);
      await expectWhole(page, site.api, id);
    },
  );

  // Would fail without ids that stand last in their block, and without a resumption exactly behind them.
  test('resumes after connections that were cut again and again', async () => {
    const id = await site.newConversation();
    const page = await openPlain(await chromium.newContext(), site.proxy.url, id);

    for (let cuts = 0; cuts < 2; cuts++) {
      const { task } = await site.write(id, 'speaker', '30 5');
      await toldOf(page, 'message.started', task.id);
      site.proxy.cut();
      await toldOf(page, 'task.completed', task.id);
    }

    expect(await page.evaluate(async () => (await window.plain).connects)).toBe(3);
    await expectWhole(page, site.api, id);
  });
});
