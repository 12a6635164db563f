/** Tells that now is a good time to try again. */
export interface Waker {
  /** @returns what ends the listening */
  onWake(listener: (cause: WakeCause) => void): () => void;
}

/** `network`: what was connected before is most likely dead. `attention`: somebody looks, or the caller asks. */
export type WakeCause = 'network' | 'attention';

/** A page's life, as far as connections are concerned. */
interface Page {
  /** The page is put aside: closed, frozen, or kept for the back button. What it holds would be in others' way. */
  onRest(listener: () => void): () => void;
  /** It is shown again after a rest. */
  onReturn(listener: () => void): () => void;
}

/** What the device says of its network. */
export interface Network {
  /** False only when the device is sure to have none. */
  isOnline(): boolean;
  /** @returns what ends the listening */
  onOffline(listener: () => void): () => void;
}

/** A named channel between the tabs of a browser. */
export interface Channel {
  postMessage(message: unknown): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  close(): void;
}

/** A lock that one tab of a browser holds at a time. */
export interface Locks {
  request(
    name: string,
    options: { signal?: AbortSignal; steal?: boolean },
    hold: () => Promise<void>,
  ): Promise<unknown>;
}

/** What a client makes use of in the place where it runs, where that has it. */
export interface Environment extends Waker, Page, Network {
  /** Whether the global `fetch` gives bodies as they come; React Native's gives them as a whole. */
  readonly canStream: boolean;
  /** Whether this is a page of a browser, which allows a server six connections of HTTP/1.1. */
  readonly isPage: boolean;
  /** What tabs share a connection by; null outside of a browser's secure page. */
  readonly tabs: { locks: Locks; openChannel(name: string): Channel } | null;
}

/** An `EventTarget`, as far as it is needed here. */
interface Target {
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** What a browser's page has and other places lack. */
interface PageGlobals {
  document?: Target & { visibilityState: string };
  navigator?: { onLine?: boolean; locks?: Locks };
  BroadcastChannel?: new (name: string) => Channel;
}

export function findEnvironment(): Environment {
  // Without the types of the DOM, which this runs without as well.
  const place: PageGlobals & Partial<Target> = globalThis as object;
  const { document, navigator, BroadcastChannel } = place;
  const inPage = document?.addEventListener !== undefined && place.addEventListener !== undefined;
  const window = inPage ? (place as Target) : null;
  const page = inPage ? document : null;
  const locks = navigator?.locks;

  return {
    onWake: (listener) =>
      all(
        on(window, 'online', () => listener('network')),
        on(window, 'pageshow', () => listener('attention')),
        on(page, 'resume', () => listener('attention')),
        on(page, 'visibilitychange', () => {
          if (page?.visibilityState === 'visible') listener('attention');
        }),
      ),
    onRest: (listener) => all(on(window, 'pagehide', listener), on(page, 'freeze', listener)),
    onReturn: (listener) => all(on(window, 'pageshow', listener), on(page, 'resume', listener)),
    canStream: 'body' in Response.prototype,
    isPage: inPage,
    isOnline: () => navigator?.onLine !== false,
    onOffline: (listener) => on(window, 'offline', listener),
    tabs:
      inPage && locks !== undefined && BroadcastChannel !== undefined
        ? { locks, openChannel: (name) => new BroadcastChannel(name) }
        : null,
  };
}

function on(target: Target | null | undefined, type: string, listener: () => void): () => void {
  target?.addEventListener(type, listener);
  return () => target?.removeEventListener(type, listener);
}

function all(...ends: (() => void)[]): () => void {
  return () => {
    for (const end of ends) end();
  };
}
