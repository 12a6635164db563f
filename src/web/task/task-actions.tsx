import { useState } from 'preact/hooks';
import type { Task } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { Icon } from '../ui/icon.tsx';
import { failureWords } from '../words/failure.ts';

/** What can be done to a task as it stands. */
export function TaskActions({ task, onChanged }: { task: Task; onChanged(task: Task): void }) {
  const { client, navigation, tell, mayWrite } = useApp();
  const [isBusy, setBusy] = useState(false);
  const canRetry = mayWrite && (task.status === 'failed' || task.status === 'cancelled');
  const canCancel = mayWrite && task.finishedAt === null;

  async function act(what: () => Promise<void>): Promise<void> {
    setBusy(true);
    try {
      await what();
    } catch (error) {
      tell(failureWords(error));
    } finally {
      setBusy(false);
    }
  }

  const cancel = () => act(async () => onChanged(await client.tasks.cancel(task.id)));
  const retry = () =>
    act(async () => {
      const next = await client.tasks.retry(task.id);
      navigation.go({ page: 'task', id: next.id });
    });

  return (
    <>
      {canRetry && (
        <button type="button" class="button button-primary" disabled={isBusy} onClick={retry}>
          <Icon name="retry" />
          Retry
        </button>
      )}
      {canCancel && (
        <button type="button" class="button" disabled={isBusy} onClick={cancel}>
          <Icon name="stop" />
          Cancel task
        </button>
      )}
    </>
  );
}
