import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Question } from '../../src/model/question.ts';
import { describeInChromium } from '../support/chromium.ts';
import {
  composer,
  connection,
  messages,
  notices,
  openChat,
  openConsole,
  panel,
  panelClosedAt,
  tabTo,
  untilShows,
} from './console-page.ts';
import { mendAfterwards, openSite, type Site } from './site.ts';

const ROUNDS = 9;
const CLOSES_WITHIN_MS = 300;
const HOURS_MS = 60 * 60_000;

describeInChromium('The console', (chromium) => {
  let site: Site;
  let origin: string;
  beforeAll(async () => {
    site = await openSite();
    origin = site.proxy.url;
  });
  afterAll(() => site.close());

  /** A conversation in which an agent waits for an answer. */
  async function asked(content: string): Promise<{ id: string; taskId: string; question: Question }> {
    const id = await site.newConversation();
    const { task } = await site.write(id, 'asker', content);
    await site.api.settled(task.id);
    return { id, taskId: task.id, question: await site.api.pendingQuestion(task.id) };
  }

  // Would fail with controls that only a mouse reaches, or a focus that is lost when the panel closes.
  test('lets a question be answered by keyboard alone', async () => {
    const { id, taskId } = await asked('choice');
    const page = await openChat(await chromium.newContext(), origin, id);
    await panel(page).waitFor();

    await tabTo(page, panel(page).getByRole('radio', { name: 'June' }));
    await page.keyboard.press('2');
    await tabTo(page, panel(page).getByRole('button', { name: 'Answer' }));
    await page.keyboard.press('Enter');
    await panel(page).waitFor({ state: 'detached' });

    await untilShows(messages(page), 'Answered by local: July');
    expect(await composer(page).evaluate((element) => element === document.activeElement)).toBe(true);
    expect((await site.api.ended(taskId)).output).toMatchObject({ status: 'answered', answers: { month: 'July' } });
  });

  // Would fail if an item could not be filled in by keys, or Ctrl and Enter did not send.
  test('lets a whole form be filled in and sent by keyboard alone', async () => {
    const { id, taskId } = await asked('form');
    const page = await openChat(await chromium.newContext(), origin, id);
    await panel(page).waitFor();

    await tabTo(page, panel(page).getByRole('textbox', { name: 'Your own answer' }));
    await page.keyboard.type('Évora');
    await tabTo(page, panel(page).getByRole('textbox', { name: /nights/i }));
    await page.keyboard.type('3');
    await tabTo(page, panel(page).getByRole('radio', { name: 'Yes' }));
    await page.keyboard.press('n');
    await page.keyboard.press('Control+Enter');
    await panel(page).waitFor({ state: 'detached' });

    const { output } = await site.api.ended(taskId);
    expect(output).toMatchObject({ answers: { city: 'Évora', nights: 3, window: false } });
  });

  // Would fail without the event of the resolution, or a tab that waits for its turn to ask.
  test('[Q5] [Q6] closes a question within 300 ms in other tabs and in another browser', async () => {
    const id = await site.newConversation();
    const here = await chromium.newContext();
    const answering = await openChat(here, origin, id);
    const watching = [await openChat(here, origin, id), await openChat(await chromium.newContext(), origin, id)];
    await site.write(id, 'quizzer', `${ROUNDS}`);

    const delays: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const prompt = `Round ${round}: which word?`;
      for (const page of [answering, ...watching]) await untilShows(panel(page), prompt);
      const closed = Promise.all(
        watching.map((page) =>
          page.evaluate(
            (text) =>
              new Promise<number>((resolve) => {
                const look = () => {
                  const shown = document.querySelector('section[aria-label="Question"]')?.textContent ?? '';
                  if (shown.includes(text)) return;
                  observer.disconnect();
                  resolve(performance.timeOrigin + performance.now());
                };
                const observer = new MutationObserver(look);
                observer.observe(document.body, { subtree: true, childList: true, characterData: true });
                look();
              }),
            prompt,
          ),
        ),
      );
      await panel(answering).getByRole('textbox').fill('fast');
      const pressedAt = await panel(answering)
        .getByRole('button', { name: 'Answer' })
        .evaluate((button) => {
          const at = performance.timeOrigin + performance.now();
          (button as HTMLButtonElement).click();
          return at;
        });
      delays.push(...(await closed).map((at) => at - pressedAt));
    }

    const median = delays.sort((a, b) => a - b)[Math.floor(delays.length / 2)];
    expect(median, `of ${delays.map(Math.round)}`).toBeLessThan(CLOSES_WITHIN_MS);
  });

  // Would fail if drafts were kept in memory.
  test('keeps over a reload what somebody has begun to answer, and to write', async () => {
    const { id } = await asked('form');
    const page = await openChat(await chromium.newContext(), origin, id);
    await panel(page).getByRole('radio', { name: 'Porto' }).check();
    await panel(page)
      .getByRole('textbox', { name: /nights/i })
      .fill('4');
    await composer(page).fill('By the way');

    await page.reload();
    await panel(page).waitFor();

    expect(await panel(page).getByRole('radio', { name: 'Porto' }).isChecked()).toBe(true);
    expect(
      await panel(page)
        .getByRole('textbox', { name: /nights/i })
        .inputValue(),
    ).toBe('4');
    expect(await panel(page).getByRole('radio', { name: 'Yes' }).isChecked()).toBe(false);
    expect(await composer(page).inputValue()).toBe('By the way');
  });

  // Would fail if the forms were made before what was kept of them was found.
  test('keeps it in the inbox too', async () => {
    const { id } = await asked('form');
    const context = await chromium.newContext();
    await panel(await openChat(context, origin, id))
      .getByRole('radio', { name: 'Porto' })
      .check();
    const page = await openConsole(context, origin, '#/inbox');
    const porto = page.getByRole('radio', { name: 'Porto' }).last();

    await porto.waitFor();

    expect(await porto.isChecked()).toBe(true);
  });

  // Would fail if a refusal were swallowed, or shown as a failure to send.
  test('explains a race that was lost', async () => {
    const { id, question } = await asked('choice');
    const page = await openChat(await chromium.newContext(), origin, id);
    await page.route('**/answers', async (route) => {
      await site.api.answer(question.id, 'August');
      await route.continue();
    });

    await panel(page).getByRole('radio', { name: 'June' }).check();
    await panel(page).getByRole('button', { name: 'Answer' }).click();

    await untilShows(notices(page), /quicker.*local.*August.*Your answer was not used/);
    await untilShows(messages(page), 'Answered by local: August');
    expect(await panel(page).count()).toBe(0);
  });

  // Would fail if the form simply vanished from under somebody's hands.
  test('tells somebody who has begun to answer why the form is gone', async () => {
    const { id, question } = await asked('choice');
    const page = await openChat(await chromium.newContext(), origin, id);
    await panel(page).getByRole('radio', { name: 'June' }).check();

    await site.api.answer(question.id, 'July');

    await untilShows(notices(page), /local.*July.*What you had begun to answer was not sent/);
  });

  // Would fail if the form stayed open, or a countdown answered for the user.
  test('[Q4] explains that a question has expired', async () => {
    const id = await site.newConversation();
    const page = await openChat(await chromium.newContext(), origin, id);
    const { task } = await site.write(id, 'asker', 'choice 2500');
    await panel(page).waitFor();

    const closedAt = await panelClosedAt(page);

    await untilShows(messages(page), 'Nobody answered in time');
    const [question] = (await site.api.eventsOf(task.id)).filter(({ type }) => type === 'question.asked');
    expect(Math.abs(closedAt - Date.parse(question?.data.question.expiresAt))).toBeLessThan(1000);
    expect((await site.api.task(task.id)).output).toEqual({ status: 'expired' });
  });

  // Would fail if an expired form did nothing when it is sent.
  test('explains that an answer has come too late', async () => {
    const id = await site.newConversation();
    const page = await openChat(await chromium.newContext(), origin, id);
    const { task } = await site.write(id, 'asker', 'choice 4000');
    await page.route('**/answers', async (route) => {
      await site.api.ended(task.id);
      await route.continue();
    });

    await panel(page).getByRole('radio', { name: 'June' }).check();
    await panel(page).getByRole('button', { name: 'Answer' }).click();

    await untilShows(notices(page), /time to answer was over.*Your answer was not used/);
    await untilShows(messages(page), 'Nobody answered in time');
  });

  // Would fail if the countdown, or what closes the form, went by the device's clock.
  test.each([-3, 3])('counts down rightly on a device whose clock is %i hours off', async (hours) => {
    const context = await chromium.newContext();
    await context.addInitScript((offset) => {
      const RealDate = Date;
      const now = () => RealDate.now() + offset;
      globalThis.Date = class extends RealDate {
        constructor(...values: [] | [number | string]) {
          super(values.length === 0 ? now() : values[0]);
        }
        static override now = now;
      } as DateConstructor;
    }, hours * HOURS_MS);
    const { id } = await asked('choice');
    const expiring = await asked('choice 3000');

    const page = await openChat(context, origin, id);
    await untilShows(panel(page).getByRole('timer'), /1[45](:\d\d| min)/);
    const seen = await panel(page).getByRole('timer').textContent();
    await page.goto(`${origin}/#/conversations/${expiring.id}`);
    await untilShows(messages(page), 'Nobody answered in time');

    expect(seen).toMatch(/^(15|14):\d\d left$/);
  });

  // Would fail without the honest words, or without the sending again.
  test('[Q9] says that it is offline, keeps an answer until it is back, and then sends it once', async () => {
    const { id, taskId } = await asked('choice');
    const context = await chromium.newContext();
    const page = await openChat(context, origin, id);
    await untilShows(connection(page), 'Live');

    await context.setOffline(true);
    site.proxy.cut();
    await untilShows(connection(page), 'Offline');
    await panel(page).getByRole('radio', { name: 'August' }).check();
    await panel(page).getByRole('button', { name: 'Answer' }).click();
    await untilShows(panel(page), 'will arrive when you are back online');
    await context.setOffline(false);

    await untilShows(messages(page), 'Answered by local: August');
    const events = await site.api.eventsOf(taskId);
    expect(events.filter(({ type }) => type === 'question.answered')).toHaveLength(1);
  });

  // Would fail without the resumption of the text that is being written.
  test('[T5] shows after a reload in the middle of an answer all of it, once', async () => {
    const id = await site.newConversation();
    const page = await openChat(await chromium.newContext(), origin, id);
    await site.write(id, 'speaker', '120 20');
    await untilShows(messages(page), 'word-20 ');

    await page.reload();
    await untilShows(messages(page), 'word-60 ');
    await page.reload();
    await untilShows(messages(page), 'word-119');

    const text = await messages(page).getByRole('article', { name: 'Agent' }).textContent();
    const words = text?.match(/word-\d+/g);
    expect(words).toEqual(Array.from({ length: 120 }, (_, n) => `word-${n}`));
  });

  // Would fail if a page in trouble looked like one that is well.
  test('says that the connection is lost, and goes on by itself when the server is back', async () => {
    mendAfterwards(site);
    const id = await site.newConversation();
    const page = await openChat(await chromium.newContext(), origin, id);
    await untilShows(connection(page), 'Live');

    site.proxy.mode = 'bad-gateway';
    site.proxy.cut();
    await untilShows(connection(page), 'Connection lost');
    await site.write(id, 'speaker', '3 0');
    site.proxy.mode = 'pass';

    await untilShows(messages(page), 'word-0 word-1 word-2', 20_000);
    await untilShows(connection(page), 'Live');
  });

  // Would fail if the inbox were another list than the log's.
  test('shows in the inbox what is asked anywhere, and takes answers there', async () => {
    const page = await openConsole(await chromium.newContext(), origin, '#/inbox');
    const { taskId, question } = await asked('text');
    const item = page.getByRole('list', { name: 'Pending questions' }).getByRole('listitem').last();
    await untilShows(item, 'Which word?');

    await item.getByRole('textbox').fill('inbox');
    await item.getByRole('button', { name: 'Answer' }).click();

    await untilShows(page.getByRole('region', { name: 'Resolved just now' }), 'Answered by local: inbox');
    expect((await site.api.question(question.id)).answers).toEqual({ word: 'inbox' });
    expect((await site.api.ended(taskId)).status).toBe('completed');
  });
});
