import { useMemo } from 'preact/hooks';
import type { Entry, OutgoingEntry, TurnView } from '../../client/index.ts';
import { EmptyState } from '../ui/empty-state.tsx';
import { memo } from '../ui/memo.tsx';
import { MessageList } from './message-list.tsx';
import { TurnBlock } from './turn-block.tsx';
import { toBlocks } from './turn-blocks.ts';
import { groupTurns } from './turn-groups.ts';
import { TurnStatus } from './turn-status.tsx';

interface TranscriptProps {
  entries: readonly Entry[];
  unfinished: readonly TurnView[];
  hasOlder: boolean;
  isLoadingOlder: boolean;
  onLoadOlder(): void;
  onTakeBack(entry: OutgoingEntry): void;
}

/** What was said in a conversation, and what is being done. */
export const Transcript = memo<TranscriptProps>((props) => {
  const { entries, unfinished, hasOlder, isLoadingOlder, onLoadOlder, onTakeBack } = props;
  const blocks = useMemo(() => toBlocks(groupTurns(entries)), [entries]);
  const unfinishedIds = unfinished.map(({ taskId }) => taskId).join(' ');
  return (
    <MessageList
      firstKey={entries[0]?.key ?? null}
      hasOlder={hasOlder}
      isLoadingOlder={isLoadingOlder}
      onLoadOlder={onLoadOlder}
    >
      {entries.length === 0 && (
        <EmptyState icon="chat" title="Nothing has been said yet">
          <p>Write below. What the agent does goes on when you close this page.</p>
        </EmptyState>
      )}
      {blocks.map((groups) => (
        <TurnBlock key={groups[0]?.key} groups={groups} unfinishedIds={unfinishedIds} onTakeBack={onTakeBack} />
      ))}
      <TurnStatus unfinished={unfinished} />
    </MessageList>
  );
});
