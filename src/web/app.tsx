import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type App, AppProvider } from './app-context.ts';
import { ConversationPage } from './chat/conversation-page.tsx';
import { StartPage } from './chat/start-page.tsx';
import { InboxPage } from './inbox/inbox-page.tsx';
import { ConnectionPill } from './nav/connection-pill.tsx';
import { ConversationList } from './nav/conversation-list.tsx';
import { Sections } from './nav/sections.tsx';
import { ThemeButton } from './nav/theme-button.tsx';
import type { Route } from './route.ts';
import { Account } from './session/account.tsx';
import { TaskPage } from './task/task-page.tsx';
import { NewTaskPage } from './tasks/new-task-page.tsx';
import { TasksPage } from './tasks/tasks-page.tsx';
import type { ThemeSwitch } from './theme.ts';
import type { Toasts } from './toasts.ts';
import { EmptyState } from './ui/empty-state.tsx';
import { type Announcer, LiveRegion } from './ui/live-region.tsx';
import { Mark } from './ui/mark.tsx';
import { PageHead } from './ui/page-head.tsx';
import { ToastList } from './ui/toast-list.tsx';

interface ConsoleProps {
  app: App;
  announcer: Announcer;
  toasts: Toasts;
  themeSwitch: ThemeSwitch;
  /** Whether the page is too narrow for the list of conversations beside it. */
  narrow: ReadonlySignal<boolean>;
}

/** The frame around every page: wide screens show it at the side, narrow ones as a page of its own and a bar below. */
export function Console({ app, announcer, toasts, themeSwitch, narrow }: ConsoleProps) {
  const main = useRef<HTMLElement>(null);
  const route = app.navigation.route.value;
  const isNarrow = narrow.value;
  const place = placeOf(route, isNarrow);

  // Who has followed a link is at the beginning of what it leads to.
  const lastPlace = useRef(place);
  useEffect(() => {
    if (lastPlace.current === place) return;
    lastPlace.current = place;
    const isInMain = main.current?.contains(document.activeElement) || document.activeElement === document.body;
    if (isInMain) main.current?.focus({ preventScroll: true });
  }, [place]);

  return (
    <AppProvider value={app}>
      <div class="shell" data-page={route.page}>
        {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place of the page, whose address is the route */}
        <a
          class="skip-link"
          href="#main"
          onClick={(event) => {
            event.preventDefault();
            main.current?.focus();
          }}
        >
          Skip to content
        </a>
        <header class="shell-brand">
          <a class="brand" href="#/">
            <Mark />
            Holdfast
          </a>
          <ThemeButton themeSwitch={themeSwitch} />
        </header>
        <Sections />
        {!isNarrow && <ConversationList heading="h2" />}
        <footer class="shell-foot">
          <ConnectionPill />
          <Account />
        </footer>
        <main id="main" ref={main} class="shell-main" tabIndex={-1}>
          <Page key={place} route={route} isNarrow={isNarrow} />
        </main>
        <ToastList toasts={toasts} />
        <LiveRegion announcer={announcer} />
      </div>
    </AppProvider>
  );
}

function Page({ route, isNarrow }: { route: Route; isNarrow: boolean }) {
  switch (route.page) {
    case 'conversations':
      return isNarrow ? <ConversationList heading="h1" /> : <StartPage />;
    case 'start':
      return <StartPage />;
    case 'conversation':
      return <ConversationPage id={route.id} />;
    case 'inbox':
      return <InboxPage />;
    case 'tasks':
      return <TasksPage filter={route.filter} />;
    case 'new-task':
      return <NewTaskPage agent={route.agent} />;
    case 'task':
      return <TaskPage id={route.id} />;
    case 'unknown':
      return (
        <div class="page">
          <PageHead title="Nothing here" />
          <EmptyState icon="question" title="There is nothing at this address">
            <a class="button" href="#/">
              Go to the beginning
            </a>
          </EmptyState>
        </div>
      );
  }
}

/** What makes a page another one; a filter does not. */
function placeOf(route: Route, isNarrow: boolean): string {
  switch (route.page) {
    case 'conversation':
    case 'task':
      return `${route.page} ${route.id}`;
    case 'conversations':
      return isNarrow ? 'conversations' : 'start';
    default:
      return route.page;
  }
}
