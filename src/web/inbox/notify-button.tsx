import { useApp } from '../app-context.ts';
import { Icon } from '../ui/icon.tsx';

/** Turns notifications on and off on this device. */
export function NotifyButton() {
  const { notifications } = useApp();
  const status = notifications.status.value;
  if (status === 'unsupported') return null;
  if (status === 'forbidden') return <span class="fine">Notifications are blocked in this browser's settings.</span>;
  return (
    <button type="button" class="button" aria-pressed={status === 'on'} onClick={() => void notifications.toggle()}>
      <Icon name="bell" />
      {status === 'on' ? 'Notifications are on' : 'Notify me'}
    </button>
  );
}
