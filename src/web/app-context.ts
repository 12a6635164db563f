import type { ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Client, Connection } from '../client/index.ts';
import type { AgentList } from './agent-list.ts';
import type { Notifications } from './inbox/notifications.ts';
import type { Navigation } from './navigation.ts';
import type { Overview } from './overview/overview.ts';
import type { ServerClock } from './server-clock.ts';
import type { Session } from './session/session.ts';

/** What every part of the page may use. */
export interface App {
  client: Client;
  /** Where the service is, without a slash at the end. */
  url: string;
  connection: ReadonlySignal<Connection>;
  overview: Overview;
  session: Session;
  mayWrite: boolean;
  mayAnswer: boolean;
  /** Aborts with the session, while everything is still on the screen. */
  ending: AbortSignal;
  /** @throws HoldfastError when the server cannot be told */
  signOut(): Promise<void>;
  agentList: AgentList;
  navigation: Navigation;
  clock: ServerClock;
  /** The server's time, epoch ms, each second. */
  serverNow: ReadonlySignal<number>;
  /** The same twice a minute, for what is told in minutes. */
  serverMinute: ReadonlySignal<number>;
  notifications: Notifications;
  /** Says something to everybody, until it is dismissed. */
  tell(text: string): void;
  /** Has a screen reader say something when it is silent. */
  announce(text: string): void;
}

const AppContext = createContext<App | null>(null);

export const AppProvider = AppContext.Provider;

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error('This is not inside of the app.');
  return app;
}
