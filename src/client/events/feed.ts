import type { Ending } from '../ending.ts';
import type { Environment, Waker } from '../environment.ts';
import { HoldfastError } from '../error.ts';
import type { Requests } from '../requests/request.ts';
import type { ConnectionBoard, Report, Reporter } from './connection-board.ts';
import { isAfter, isSameEpoch } from './cursor.ts';
import { followLog } from './follow-log.ts';
import type { Frame } from './frame.ts';
import { joinTabs, type Membership, type TabMessage } from './tabs.ts';

export interface FeedListener {
  /** Frames may come twice, and overlap. Where one does not begin at or before what the listener has, something is missing. */
  onFrame(frame: Frame): void;
  /** Nothing will come any more. */
  onFailed(error: HoldfastError): void;
}

/** The owner's log as it grows, over one connection for all who listen, in all tabs of a browser. */
export interface Feed {
  /** Connects with the first listener. @returns what ends the listening */
  listen(listener: FeedListener): () => void;
}

export interface FeedOptions {
  requests: Requests;
  waker: Waker;
  environment: Environment;
  canStream: boolean;
  board: ConnectionBoard;
  /** Equal for all tabs that share the connection; null when it is this one's alone. */
  name: string | null;
  closed: Ending;
}

/** How long the connection is kept for the next listener after the last one. */
const LINGER_MS = 1000;
const OWNERS_LOG = { path: '/v1/events', types: [] };

export function createFeed(options: FeedOptions): Feed {
  const { environment, closed } = options;
  const listeners = new Set<FeedListener>();
  let running: { stop(): void } | null = null;
  let linger: ReturnType<typeof setTimeout> | undefined;

  function start(): void {
    const session = createSession(options, listeners, () => {
      running?.stop();
      running = null;
    });
    const stopResting = environment.onRest(session.rest);
    const stopReturning = environment.onReturn(session.join);
    session.join();
    running = {
      stop() {
        stopResting();
        stopReturning();
        session.rest();
        session.close();
      },
    };
  }

  function stop(): void {
    clearTimeout(linger);
    running?.stop();
    running = null;
  }
  closed.addEventListener('abort', stop);

  return {
    listen(listener) {
      listeners.add(listener);
      clearTimeout(linger);
      if (running === null && !closed.aborted) start();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && running !== null) linger = setTimeout(stop, LINGER_MS);
      };
    },
  };
}

/** One time of being connected, with rests while the page is put aside. */
function createSession(options: FeedOptions, listeners: ReadonlySet<FeedListener>, onEnd: () => void) {
  const { environment, board, name } = options;
  const reporter: Reporter = board.open();
  let membership: Membership | null = null;
  let alone: AbortController | null = null;
  /** Everything up to here has been told by somebody; null before anything was. */
  let position: string | null = null;
  let state: Report = { status: 'connecting' };
  let isLeader = false;

  function tell(frame: Frame): void {
    for (const listener of [...listeners]) listener.onFrame(frame);
  }

  function fail(error: HoldfastError): void {
    for (const listener of [...listeners]) listener.onFailed(error);
    onEnd();
  }

  function setState(report: Report): void {
    const role = membership === null ? 'alone' : 'leader';
    state = report;
    reporter.report({ ...report, role });
    membership?.post({ type: 'state', report, position });
  }

  async function lead(signal: AbortSignal): Promise<void> {
    isLeader = true;
    signal.addEventListener('abort', () => {
      isLeader = false;
    });
    try {
      while (!signal.aborted) await leadOn(signal);
    } catch (error) {
      const refusal = error instanceof HoldfastError ? error : new HoldfastError('internal', String(error));
      const { code, message, status } = refusal;
      membership?.post({ type: 'refused', code, message, status });
      fail(refusal);
    }
  }

  /** Until the log's history changes: then whoever listens reads on for himself, and this goes on with what happens now. */
  async function leadOn(signal: AbortSignal): Promise<void> {
    const { requests, waker, canStream } = options;
    const after = position ?? 'latest';
    const query = OWNERS_LOG;
    for await (const frame of followLog({
      requests,
      waker,
      canStream,
      network: environment,
      query,
      after,
      signal,
      report: setState,
    })) {
      if (signal.aborted) return;
      const reset = frame.items.find(({ type }) => type === 'reset');
      const hasEvents = frame.items.some(({ type }) => type !== 'caught-up');
      // At the end of the log nothing is missing before a first frame that has nothing in it.
      const from = hasEvents ? frame.from : (frame.from ?? frame.to);
      const told = reset === undefined ? { ...frame, from } : { ...frame, from: null, items: [reset] };
      position = reset === undefined ? frame.to : null;
      membership?.post({ type: 'frame', frame: told });
      tell(told);
      if (reset !== undefined) return;
    }
  }

  function onMessage(message: TabMessage): void {
    switch (message.type) {
      case 'ping':
        if (isLeader) membership?.post({ type: 'state', report: state, position });
        return;
      case 'frame':
        position = laterOf(position, message.frame);
        tell(message.frame);
        return;
      case 'state': {
        if (isLeader) return;
        reporter.report({ ...message.report, role: 'follower' });
        const { position: from } = message;
        // The answer to anybody's ping comes to all.
        if (from !== null && (position === null || !isSameEpoch(from, position) || isAfter(from, position)))
          onMessage({ type: 'frame', frame: { from, to: from, items: [], ended: false } });
        return;
      }
      case 'refused':
        if (!isLeader) fail(toError(message));
    }
  }

  return {
    join() {
      if (membership !== null || alone !== null) return;
      reporter.report({ status: 'connecting' });
      const { tabs } = environment;
      if (tabs !== null && name !== null) membership = joinTabs({ tabs, name, lead, onMessage });
      else {
        alone = new AbortController();
        void lead(alone.signal);
      }
    },
    rest() {
      membership?.leave();
      alone?.abort();
      membership = null;
      alone = null;
    },
    close: () => reporter.close(),
  };
}

function toError({ code, message, status }: Extract<TabMessage, { type: 'refused' }>): HoldfastError {
  return new HoldfastError(code, message, status === null ? {} : { status });
}

/** How far a tab has heard. A reset makes everything before it count for nothing. */
function laterOf(position: string | null, { to, items }: Frame): string | null {
  if (items.some(({ type }) => type === 'reset') || to === null) return null;
  return position === null || !isSameEpoch(to, position) || isAfter(to, position) ? to : position;
}
