import type { NoticeEntry } from '../../client/index.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { memo } from '../ui/memo.tsx';
import { cancelReasonWords } from '../words/task-status.ts';

const ICONS: { [type in NoticeEntry['notice']['type']]: IconName } = {
  failed: 'warning',
  cancelled: 'stop',
  recovered: 'branch',
  retrying: 'retry',
};

/** What became of a turn, other than that it completed. */
export const NoticeRow = memo(({ entry: { notice, taskId } }: { entry: NoticeEntry }) => (
  <p class={`turn-notice notice-${notice.type}`}>
    <Icon name={ICONS[notice.type]} />
    <span>
      <bdi>{noticeWords(notice)}</bdi> {notice.type === 'failed' && <a href={`#/tasks/${taskId}`}>See the task</a>}
    </span>
  </p>
));

function noticeWords(notice: NoticeEntry['notice']): string {
  switch (notice.type) {
    case 'failed':
      return `It failed: ${notice.error.message}`;
    case 'cancelled':
      return cancelReasonWords(notice.reason);
    case 'recovered':
      return 'Its worker or the server was lost. It goes on from where it was.';
    case 'retrying':
      return `It failed, and is tried again: ${notice.error.message}`;
  }
}
