import { effect, untracked } from '@preact/signals';
import { render } from 'preact';
import { Console } from './app.tsx';
import { createNotifications } from './inbox/notifications.ts';
import { mediaSignal } from './media.ts';
import { createNavigation } from './navigation.ts';
import { type OpenApp, openApp, type Place } from './open-app.ts';
import { createServerClock } from './server-clock.ts';
import { serviceUrl } from './service-url.ts';
import { OpeningPage } from './session/opening-page.tsx';
import type { Standing } from './session/session.ts';
import { createSignIn } from './session/sign-in.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import { createThemeSwitch } from './theme.ts';
import { ticking } from './ticking.ts';

const url = serviceUrl(window.location.href);
const signIn = createSignIn(url);
const clock = createServerClock(
  () => performance.now(),
  () => Date.now(),
);
const place: Place = {
  url,
  navigation: createNavigation(window),
  clock,
  serverNow: ticking(() => clock.now(), 1000),
  serverMinute: ticking(() => clock.now(), 30_000),
  notifications: createNotifications(),
};
const narrow = mediaSignal('(max-width: 760px)');
const themeSwitch = createThemeSwitch();
let open: OpenApp | null = null;

/** With a session everything goes that was known in it, and with another everything begins anew. */
function show(standing: Standing, root: HTMLElement): void {
  const before = open;
  before?.end();
  open = null;
  render(pageOf(standing), root);
  before?.close();
}

function pageOf(standing: Standing) {
  switch (standing.status) {
    case 'looking':
      return <OpeningPage failure={standing.failure} />;
    case 'out':
      return <SignInPage signIn={signIn} hasEnded={standing.hasEnded} />;
    case 'in': {
      open = openApp(standing.session, signIn, place);
      const { app, announcer, toasts } = open;
      return <Console {...{ app, announcer, toasts, themeSwitch, narrow }} />;
    }
  }
}

const root = document.getElementById('console');
if (root !== null) {
  root.replaceChildren();
  effect(() => {
    const standing = signIn.standing.value;
    untracked(() => show(standing, root));
  });
}
