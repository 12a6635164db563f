import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeInChromium } from '../support/chromium.ts';
import { findNginx, type Nginx, startNginx } from '../support/nginx.ts';
import { connection, messages, openChat, untilShows } from './console-page.ts';
import { expectWhole, openPlain, openQuestions, toldOf } from './plain-page.ts';
import { openSite, type Site } from './site.ts';

/** What most sites have in front, with nothing set but where requests go. */
describe.skipIf(!findNginx())('Behind nginx with its defaults', () => {
  describeInChromium('a page', (chromium) => {
    let site: Site;
    let nginx: Nginx;
    beforeAll(async () => {
      site = await openSite();
      nginx = await startNginx({ '/v1/': site.api.url, '/': site.proxy.url });
    });
    afterAll(async () => {
      await nginx.stop();
      await site.close();
    });

    // Would fail without `X-Accel-Buffering: no`: nginx buffers what it is not told to let through.
    test('is told events live: while the agent still speaks', async () => {
      const id = await site.newConversation();
      const page = await openPlain(await chromium.newContext(), nginx.url, id);

      const { task } = await site.write(id, 'speaker', '100 10');
      await toldOf(page, 'message.delta');
      const { status } = await site.api.task(task.id);
      await toldOf(page, 'task.completed');

      expect(status).toBe('running');
      await expectWhole(page, site.api, id);
    });

    // Would fail if nginx took the `Last-Event-ID` away, or gave a stream out of a cache.
    test('resumes with nothing missed and nothing twice when nginx is restarted in the middle', async () => {
      const id = await site.newConversation();
      const page = await openPlain(await chromium.newContext(), nginx.url, id);
      const { task } = await site.write(id, 'speaker', '150 10');
      await toldOf(page, 'message.delta');

      await nginx.restart();
      await toldOf(page, 'task.completed', task.id);

      expect(await page.evaluate(async () => (await window.plain).connects)).toBe(2);
      await expectWhole(page, site.api, id);
    });

    test('answers a question, which carries the task to its end', async () => {
      const id = await site.newConversation();
      const page = await openPlain(await chromium.newContext(), nginx.url, id);
      const { task } = await site.write(id, 'asker', 'choice');
      await toldOf(page, 'question.asked');

      const [question] = await openQuestions(page);
      const status = await page.evaluate(async (asked) => {
        const headers = { 'Content-Type': 'application/json' };
        const body = JSON.stringify({ answer: 'July' });
        return (await fetch(`/v1/questions/${asked}/answers`, { method: 'POST', headers, body })).status;
      }, question);
      await toldOf(page, 'task.completed', task.id);

      expect(status).toBe(200);
      expect((await site.api.task(task.id)).output).toMatchObject({ status: 'answered', answers: { month: 'July' } });
      await expectWhole(page, site.api, id);
    });

    // Would fail if the console or its client asked for anything that a plain proxy does not pass on.
    test('gets the console, which is live there and goes on when nginx is restarted', async () => {
      const id = await site.newConversation();
      const page = await openChat(await chromium.newContext(), nginx.url, id);
      await untilShows(connection(page), 'Live');

      const { task } = await site.write(id, 'speaker', '150 10');
      await untilShows(messages(page), 'word-10 ');
      const { status } = await site.api.task(task.id);
      await nginx.restart();
      await untilShows(messages(page), 'word-149', 20_000);

      expect(status).toBe('running');
      const text = await messages(page).getByRole('article', { name: 'Agent' }).textContent();
      expect(text?.match(/word-\d+/g)).toEqual(Array.from({ length: 150 }, (_, n) => `word-${n}`));
    });
  });
});
