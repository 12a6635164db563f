import { type ChatPage, loadedPage, show } from '../support/chat-page.ts';
import type { LogEvent } from '../support/sse-reader.ts';

/** A page without a library: what docs/protocol.md §7 says, by hand, with the browser's own `EventSource`. */
export interface PlainPage {
  readonly shown: ChatPage;
  /** Every event that it was sent, and when, in epoch ms. */
  readonly told: { event: LogEvent; at: number }[];
  /** How many times it was connected. */
  connects: number;
  caughtUp: number;
  /** Where the stream began. */
  readonly resumeAfter: string;
  until(isTrue: () => boolean): Promise<void>;
}

declare global {
  interface Window {
    plain: Promise<PlainPage>;
  }
}

window.plain = load(location.hash.slice(1));

async function load(id: string): Promise<PlainPage> {
  const conversation = await read(`/v1/conversations/${id}`);
  const messages = await read(`/v1/conversations/${id}/messages?limit=200`);
  const { resumeAfter } = conversation;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  const page: PlainPage = {
    shown: loadedPage(conversation, messages.items),
    told: [],
    connects: 0,
    caughtUp: 0,
    resumeAfter,
    until(isTrue) {
      return new Promise((resolve) => {
        const look = () => {
          if (!isTrue()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };

  const source = new EventSource(`/v1/conversations/${id}/events?after=${resumeAfter}`);
  source.onopen = () => {
    page.connects += 1;
  };
  source.onmessage = ({ data }) => {
    const event: LogEvent = JSON.parse(data);
    page.told.push({ event, at: performance.timeOrigin + performance.now() });
    show(page.shown, event);
    changed();
  };
  source.addEventListener('caught-up', () => {
    page.caughtUp += 1;
    changed();
  });
  return page;
}

async function read(path: string) {
  const response = await fetch(path);
  return response.json();
}
