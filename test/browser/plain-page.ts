import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { type ChatPage, emptyPage, show } from '../support/chat-page.ts';
import { readLog, readPage } from '../support/log-pages.ts';
import type { LogEvent } from '../support/sse-reader.ts';

/** Opens a page without a library that shows a conversation. @see plain-script.ts */
export async function openPlain(context: BrowserContext, origin: string, conversationId: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${origin}/plain#${conversationId}`);
  await caughtUp(page);
  return page;
}

export async function caughtUp(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const plain = await window.plain;
    await plain.until(() => plain.caughtUp > 0);
  });
}

/** Settles when the page has been told of an event since it was loaded, of this task when one is given. */
export async function toldOf(page: Page, type: string, taskId: string | null = null): Promise<void> {
  await page.evaluate(
    async ([wanted, of]) => {
      const plain = await window.plain;
      await plain.until(() =>
        plain.told.some(({ event }) => event.type === wanted && (of === null || event.taskId === of)),
      );
    },
    [type, taskId] as const,
  );
}

export function openQuestions(page: Page): Promise<string[]> {
  return page.evaluate(async () => [...(await window.plain).shown.questions]);
}

/**
 * Expects that the page was told exactly what the log holds from where it began, each event once and in order, and that
 * it shows what the whole log comes to.
 */
export async function expectWhole(page: Page, api: Api, conversationId: string): Promise<void> {
  const path = `/v1/conversations/${conversationId}/events`;
  const { told, shown, resumeAfter } = await page.evaluate(async () => {
    const plain = await window.plain;
    const { messages, questions, tasks, tools } = plain.shown;
    const lists = { messages: [...messages], questions: [...questions], tasks: [...tasks], tools: [...tools] };
    return { told: plain.told.map(({ event }) => event), shown: lists, resumeAfter: plain.resumeAfter };
  });
  const { events: after } = await readPage(api, path, `after=${resumeAfter}&limit=1000`);
  const log = await readLog(api, path);

  expect(told).toEqual(after.map(withoutId));
  const rebuilt = emptyPage();
  for (const event of log) show(rebuilt, event);
  expect(shown).toEqual(listed(rebuilt));
}

function listed({ messages, questions, tasks, tools }: ChatPage): object {
  return { messages: [...messages], questions: [...questions], tasks: [...tasks], tools: [...tools] };
}

function withoutId({ id, ...event }: LogEvent & { id: string }): LogEvent {
  return event;
}
