import { computed, effect } from '@preact/signals';
import { createClient } from '../client/index.ts';
import { createAgentList } from './agent-list.ts';
import type { App } from './app-context.ts';
import { clockedFetch } from './clocked-fetch.ts';
import { documentTitle } from './document-title.ts';
import { createOverview } from './overview/overview.ts';
import { watchQuestions } from './question-watch.ts';
import type { Session } from './session/session.ts';
import type { SignIn } from './session/sign-in.ts';
import { storeSignal } from './store-signal.ts';
import { createToasts, type Toasts } from './toasts.ts';
import { type Announcer, createAnnouncer } from './ui/live-region.tsx';

/** Everything that the page knows of one session, which goes with it. */
export interface OpenApp {
  app: App;
  announcer: Announcer;
  toasts: Toasts;
  /** Says that it is over. What is on the screen may still look at what there was, until `close`. */
  end(): void;
  close(): void;
}

/** What of the page outlives a session. */
export type Place = Pick<App, 'url' | 'navigation' | 'clock' | 'serverNow' | 'serverMinute' | 'notifications'>;

export function openApp(session: Session, signIn: SignIn, place: Place): OpenApp {
  const { url, clock, navigation } = place;
  const ended = new AbortController();
  const needsSignIn = session.authentication !== 'none';
  const client = createClient({
    url,
    fetch: signIn.guard(clockedFetch((input, init) => fetch(input, init), clock)),
    // Tabs of somebody else have a connection of their own.
    ...(needsSignIn && { account: session.owner }),
  });
  const overview = createOverview(client, ended.signal);
  const toasts = createToasts();
  const announcer = createAnnouncer();
  const connection = storeSignal(client.connection);
  const app: App = {
    ...place,
    client,
    connection,
    overview,
    session,
    mayWrite: session.scopes.includes('tasks:write'),
    mayAnswer: session.scopes.includes('questions:answer'),
    ending: ended.signal,
    signOut: signIn.signOut,
    agentList: createAgentList(client),
    tell: toasts.tell,
    announce: announcer.announce,
  };

  overview.onEvent(({ at }) => clock.heardOf(at));
  watchQuestions(app);

  const title = computed(() => documentTitle(navigation.route.value, overview.state.value));
  const endTitle = effect(() => {
    document.title = title.value;
  });

  const isLost = computed(() => /^(reconnecting|offline)$/.test(connection.value.status));
  let wasLost = false;
  const endNews = effect(() => {
    if (isLost.value !== wasLost)
      announcer.announce(isLost.value ? 'The connection is lost.' : 'The connection is back.');
    wasLost = isLost.value;
  });

  // The tab that holds the connection for this one was sent away.
  const endRefusals = effect(() => {
    const { status, code } = connection.value;
    if (needsSignIn && status === 'refused' && code === 'unauthorized') void signIn.look();
  });

  return {
    app,
    announcer,
    toasts,
    end: () => ended.abort(),
    close() {
      client.close();
      for (const end of [endTitle, endNews, endRefusals]) end();
      document.title = 'Holdfast';
    },
  };
}
