import type { Entry, OutgoingEntry } from '../../client/index.ts';
import { memo } from '../ui/memo.tsx';
import { ActivityRow } from './activity-row.tsx';
import { MessageRow, TextRow } from './message-row.tsx';
import { NoticeRow } from './notice-row.tsx';
import { OutgoingRow } from './outgoing-row.tsx';
import { QuestionRow } from './question-row.tsx';
import { TurnFoot } from './turn-foot.tsx';
import { isSameGroup, type TurnGroup } from './turn-groups.ts';

interface TurnProps {
  group: TurnGroup;
  isFinished: boolean;
  onTakeBack(entry: OutgoingEntry): void;
}

/** A turn, rendered again only when something in it is new. */
export const Turn = memo<TurnProps>(
  ({ group, isFinished, onTakeBack }) => {
    const last = group.entries.findLast((entry) => entry.kind === 'message');
    return (
      <section class="turn" data-key={group.key}>
        {group.entries.map((entry) => (
          <Row key={entry.key} entry={entry} onTakeBack={onTakeBack} />
        ))}
        {isFinished && group.taskId !== null && hasEnded(group) && (
          <TurnFoot
            taskId={group.taskId}
            answer={last?.message.role === 'assistant' && !last.message.empty ? last.message : null}
            isTold={group.entries.some(({ kind }) => kind === 'activity')}
          />
        )}
      </section>
    );
  },
  (before, after) => before.isFinished === after.isFinished && isSameGroup(before.group, after.group),
);

/** The built-in tool by which an assistant asks. */
const QUESTION_TOOL = 'ask_user_questions';

interface RowProps {
  entry: Entry;
  onTakeBack(entry: OutgoingEntry): void;
}

function Row({ entry, onTakeBack }: RowProps) {
  switch (entry.kind) {
    case 'message':
      return <MessageRow message={entry.message} />;
    case 'text':
      return <TextRow text={entry.text} />;
    case 'activity':
      // The question that it asks says more.
      return entry.tool !== null && entry.name === QUESTION_TOOL ? null : <ActivityRow activity={entry} />;
    case 'question':
      return <QuestionRow question={entry.question} />;
    case 'notice':
      return <NoticeRow entry={entry} />;
    case 'outgoing':
      return <OutgoingRow entry={entry} onTakeBack={onTakeBack} />;
  }
}

/** Whether anything of the turn itself is here: of one that waits behind another, only its message is. */
function hasEnded({ entries, taskId }: TurnGroup): boolean {
  return entries.some(
    (entry) =>
      entry.kind === 'notice' ||
      (entry.kind === 'message' && entry.message.role === 'assistant' && entry.message.taskId === taskId),
  );
}
