import { type ReadonlySignal, signal } from '@preact/signals';
import type { Question } from '../../client/index.ts';
import { onDevice } from '../kept-text.ts';

/** `unsupported`: this browser, or this page without TLS, has none. `forbidden`: only the browser's settings change that. */
export type NotifyStatus = 'on' | 'off' | 'forbidden' | 'unsupported';

export interface Notifications {
  readonly status: ReadonlySignal<NotifyStatus>;
  /** Asks for permission when there is none. */
  toggle(): Promise<void>;
  /** Tells of a question, unless somebody is looking at the console already. */
  notify(question: Question, where: string, onClick: () => void): Promise<void>;
}

const KEY = 'holdfast.notifications';
const VISIBLE_LOCK = 'holdfast.visible';

/** Desktop notifications, for who wants them. Of many tabs one notification comes, since all give it the same tag. */
export function createNotifications(): Notifications {
  // Asked for when somebody looks at it: browsers answer that slowly.
  const status = signal<NotifyStatus>('off', {
    watched() {
      status.value = statusNow();
    },
  });
  holdWhileVisible();
  return {
    status,
    async toggle() {
      const isOn = status.value === 'on';
      onDevice.set(KEY, isOn ? null : 'on');
      if (!isOn && Notification.permission === 'default') await Notification.requestPermission();
      status.value = statusNow();
    },
    async notify({ id, items }, where, onClick) {
      if (onDevice.get(KEY) !== 'on' || (await isAnyTabVisible())) return;
      if (statusNow() !== 'on') return;
      try {
        const notification = new Notification(where, { body: items[0]?.prompt ?? '', tag: id });
        notification.onclick = () => {
          window.focus();
          notification.close();
          onClick();
        };
      } catch {
        // Chrome on Android has the constructor and forbids it.
        status.value = 'unsupported';
      }
    },
  };
}

function statusNow(): NotifyStatus {
  if (!('Notification' in window) || !window.isSecureContext) return 'unsupported';
  if (Notification.permission === 'denied') return 'forbidden';
  return Notification.permission === 'granted' && onDevice.get(KEY) === 'on' ? 'on' : 'off';
}

/** Tabs that somebody sees hold a lock together, which hidden ones look for. */
function holdWhileVisible(): void {
  let release = () => {};
  const follow = () => {
    release();
    if (document.visibilityState !== 'visible' || navigator.locks === undefined) return;
    const hidden = new Promise<void>((resolve) => {
      release = resolve;
    });
    navigator.locks.request(VISIBLE_LOCK, { mode: 'shared' }, () => hidden).catch(() => {});
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}

async function isAnyTabVisible(): Promise<boolean> {
  if (document.visibilityState === 'visible') return true;
  if (navigator.locks === undefined) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === VISIBLE_LOCK);
}
