import { type ReadonlySignal, signal } from '@preact/signals';
import { hrefOf, parseRoute, type Route } from './route.ts';

export interface Navigation {
  readonly route: ReadonlySignal<Route>;
  /** Goes there; the back button comes back. */
  go(route: Route): void;
  /** Goes there in place of where it is. */
  replace(route: Route): void;
}

/** Follows the part of the address after its `#`, which no server sees. */
export function createNavigation(window: Window): Navigation {
  const route = signal(parseRoute(window.location.hash));
  const follow = () => {
    route.value = parseRoute(window.location.hash);
  };
  window.addEventListener('hashchange', follow);
  return {
    route,
    go(to) {
      window.location.hash = hrefOf(to);
    },
    replace(to) {
      window.history.replaceState(null, '', hrefOf(to));
      follow();
    },
  };
}
