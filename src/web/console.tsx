import { computed, effect } from '@preact/signals';
import { render } from 'preact';
import { createClient } from '../client/index.ts';
import { createAgentList } from './agent-list.ts';
import { Console } from './app.tsx';
import type { App } from './app-context.ts';
import { clockedFetch } from './clocked-fetch.ts';
import { documentTitle } from './document-title.ts';
import { createNotifications } from './inbox/notifications.ts';
import { mediaSignal } from './media.ts';
import { createNavigation } from './navigation.ts';
import { createOverview } from './overview/overview.ts';
import { watchQuestions } from './question-watch.ts';
import { createServerClock } from './server-clock.ts';
import { serviceUrl } from './service-url.ts';
import { storeSignal } from './store-signal.ts';
import { createThemeSwitch } from './theme.ts';
import { ticking } from './ticking.ts';
import { createToasts } from './toasts.ts';
import { createAnnouncer } from './ui/live-region.tsx';

const url = serviceUrl(window.location.href);
const clock = createServerClock(
  () => performance.now(),
  () => Date.now(),
);
const client = createClient({ url, fetch: clockedFetch((input, init) => fetch(input, init), clock) });
const navigation = createNavigation(window);
const overview = createOverview(client, new AbortController().signal);
const toasts = createToasts();
const announcer = createAnnouncer();
const connection = storeSignal(client.connection);

const app: App = {
  client,
  url,
  connection,
  overview,
  agentList: createAgentList(client),
  navigation,
  clock,
  serverNow: ticking(() => clock.now(), 1000),
  serverMinute: ticking(() => clock.now(), 30_000),
  notifications: createNotifications(),
  tell: toasts.tell,
  announce: announcer.announce,
};

overview.onEvent(({ at }) => clock.heardOf(at));
watchQuestions(app);

const title = computed(() => documentTitle(navigation.route.value, overview.state.value));
effect(() => {
  document.title = title.value;
});

const isLost = computed(() => /^(reconnecting|offline)$/.test(connection.value.status));
let wasLost = false;
effect(() => {
  if (isLost.value !== wasLost)
    announcer.announce(isLost.value ? 'The connection is lost.' : 'The connection is back.');
  wasLost = isLost.value;
});

const place = document.getElementById('console');
if (place !== null) {
  place.replaceChildren();
  const narrow = mediaSignal('(max-width: 760px)');
  const themeSwitch = createThemeSwitch();
  render(<Console {...{ app, announcer, toasts, themeSwitch, narrow }} />, place);
}
