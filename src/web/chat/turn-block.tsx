import type { OutgoingEntry } from '../../client/index.ts';
import { memo } from '../ui/memo.tsx';
import { Turn } from './turn.tsx';
import { isSameBlock } from './turn-blocks.ts';
import type { TurnGroup } from './turn-groups.ts';

interface TurnBlockProps {
  groups: readonly TurnGroup[];
  /** The ids of the tasks that are unfinished, in one text. */
  unfinishedIds: string;
  onTakeBack(entry: OutgoingEntry): void;
}

/** About how high a turn is, until it has been drawn. */
const TURN_PX = 200;

/** Some turns one after the other, which cost nothing while they are out of sight. */
export const TurnBlock = memo<TurnBlockProps>(
  ({ groups, unfinishedIds, onTakeBack }) => (
    <div class="turn-block" style={{ containIntrinsicSize: `auto ${groups.length * TURN_PX}px` }}>
      {groups.map((group) => (
        <Turn
          key={group.key}
          group={group}
          isFinished={group.taskId === null || !unfinishedIds.includes(group.taskId)}
          onTakeBack={onTakeBack}
        />
      ))}
    </div>
  ),
  (before, after) =>
    before.unfinishedIds === after.unfinishedIds &&
    before.onTakeBack === after.onTakeBack &&
    isSameBlock(before.groups, after.groups),
);
