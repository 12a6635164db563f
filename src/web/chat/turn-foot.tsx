import { useId, useState } from 'preact/hooks';
import type { Message } from '../../client/index.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { TimeAgo } from '../ui/time-ago.tsx';
import { TurnDetails } from './turn-details.tsx';

interface TurnFootProps {
  taskId: string;
  /** What the agent said last; null when it said nothing. */
  answer: Message | null;
  /** Whether the steps stand above already, since this page has seen them happen. */
  isTold: boolean;
}

/** Below a turn that is over: when, a button to copy what was said, and how it came about. */
export function TurnFoot({ taskId, answer, isTold }: TurnFootProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <div class="said-foot">
        {answer !== null && (
          <>
            <TimeAgo at={answer.createdAt} />
            <CopyButton text={() => answer.content} name="Copy message" />
          </>
        )}
        {isTold ? (
          <a class="foot-link" href={`#/tasks/${taskId}`}>
            Task
          </a>
        ) : (
          <button
            type="button"
            class="foot-link"
            aria-expanded={isOpen}
            aria-controls={isOpen ? id : undefined}
            onClick={() => setOpen(!isOpen)}
          >
            Details
          </button>
        )}
      </div>
      {isOpen && (
        <div id={id} class="turn-details">
          <TurnDetails taskId={taskId} />
        </div>
      )}
    </>
  );
}
