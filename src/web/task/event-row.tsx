import type { RefCallback } from 'preact';
import type { LogEvent } from '../../client/index.ts';
import { useApp } from '../app-context.ts';
import { copyText } from '../ui/copy-text.ts';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { durationWords } from '../words/duration.ts';
import { eventWords } from './event-words.ts';
import { resumeCommand } from './resume-command.ts';

interface EventRowProps {
  event: LogEvent;
  taskId: string;
  /** Of the task's first event, epoch ms. */
  startedAt: number;
  place: number;
  count: number;
  isOpen: boolean;
  onToggle(): void;
  /** Is given what the row shows when it is open. */
  body: RefCallback<HTMLElement>;
}

/** An event, which can be opened to see all of it. */
export function EventRow({ event, taskId, startedAt, place, count, isOpen, onToggle, body }: EventRowProps) {
  const { url, announce } = useApp();
  const family = event.type.split('.', 1)[0] ?? '';

  async function copy(text: string): Promise<void> {
    await copyText(text);
    announce('Copied.');
  }

  return (
    <li class="event" aria-posinset={place} aria-setsize={count}>
      <button type="button" class="event-row" aria-expanded={isOpen} onClick={onToggle}>
        <span class="disclosure-arrow">
          <Icon name="chevron-right" />
        </span>
        <span class="event-seq">{event.seq}</span>
        <span class="event-at" title={event.at}>
          +{durationWords(Date.parse(event.at) - startedAt)}
        </span>
        <span class={`event-type family-${family}`}>{event.type}</span>
        <bdi class="event-words">{eventWords(event)}</bdi>
      </button>
      {isOpen && (
        <div class="event-body" ref={body}>
          <div class="event-actions">
            <button type="button" class="button button-small" onClick={() => void copy(event.id)}>
              <Icon name="copy" />
              Copy cursor
            </button>
            <button
              type="button"
              class="button button-small"
              onClick={() => void copy(resumeCommand(url, taskId, event.id))}
            >
              <Icon name="copy" />
              Copy curl to resume here
            </button>
            <code class="event-cursor">{event.id}</code>
          </div>
          <JsonView label="Event" value={event} />
        </div>
      )}
    </li>
  );
}
