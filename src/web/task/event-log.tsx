import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LogEvent } from '../../client/index.ts';
import { Icon } from '../ui/icon.tsx';
import { EventRow } from './event-row.tsx';
import { rowWindow } from './row-window.ts';

interface EventLogProps {
  taskId: string;
  /** Grows in place; `count` says how far. */
  events: readonly LogEvent[];
  count: number;
  isPruned: boolean;
}

const ROW_PX = 34;
const AT_END_PX = 40;

/** All events of a task. However many there are, only those in sight are drawn. */
export function EventLog({ taskId, events, count, isPruned }: EventLogProps) {
  const view = useRef<HTMLElement>(null);
  const [scroll, setScroll] = useState({ top: 0, height: 480 });
  const [prefix, setPrefix] = useState('');
  const [follows, setFollows] = useState(true);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [heights, setHeights] = useState<ReadonlyMap<string, number>>(new Map());

  const shown = useMemo(
    () => (prefix === '' ? events.slice(0, count) : events.filter(({ type }) => type.startsWith(prefix))),
    [events, count, prefix],
  );
  const extraPx = useMemo(() => {
    if (open.size === 0) return new Map<number, number>();
    return new Map(shown.flatMap(({ id }, index) => (open.has(id) ? [[index, heights.get(id) ?? 0] as const] : [])));
  }, [shown, open, heights]);
  const rows = rowWindow({ count: shown.length, rowPx: ROW_PX, extraPx }, scroll.top, scroll.height);
  const startedAt = Date.parse(events[0]?.at ?? '');

  useLayoutEffect(() => {
    const element = view.current;
    if (element !== null && follows) element.scrollTop = element.scrollHeight;
  }, [follows, shown.length, rows.totalPx]);

  useEffect(() => {
    const element = view.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setScroll({ top: element.scrollTop, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  function onScroll({ currentTarget: element }: { currentTarget: HTMLElement }): void {
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < AT_END_PX;
    // Reading further up is what pauses it; being at the end goes on.
    if (element.scrollTop < scroll.top && !isAtEnd) setFollows(false);
    setScroll({ top: element.scrollTop, height: element.clientHeight });
  }

  function toggle(id: string): void {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
    setFollows(false);
  }

  function measure(id: string, element: HTMLElement | null): void {
    const height = element?.offsetHeight ?? null;
    if (height === null || heights.get(id) === height) return;
    setHeights(new Map(heights).set(id, height));
  }

  return (
    <section class="log" aria-label="Events">
      <header class="log-head">
        <h2>
          Events <span class="count">{prefix === '' ? count : `${shown.length} of ${count}`}</span>
        </h2>
        <input
          class="input log-filter"
          type="search"
          placeholder="Filter by type, such as step."
          aria-label="Filter events by type"
          value={prefix}
          onInput={({ currentTarget }) => setPrefix(currentTarget.value.trim())}
        />
        <button type="button" class="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          <Icon name={follows ? 'pause' : 'play'} />
          {follows ? 'Pause' : 'Follow'}
        </button>
      </header>
      {isPruned && <p class="fine">Older events are no longer kept.</p>}
      {shown.length === 0 ? (
        <p class="log-empty">
          {count === 0 ? 'Nothing has happened yet.' : `No event's type begins with “${prefix}”.`}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section ref={view} class="log-view" tabIndex={0} aria-label="List of events" onScroll={onScroll}>
          <div style={{ height: `${rows.totalPx}px` }}>
            <ol class="log-rows" style={{ transform: `translateY(${rows.offsetPx}px)` }}>
              {shown.slice(rows.from, rows.to).map((event, index) => (
                <EventRow
                  key={event.id}
                  event={event}
                  taskId={taskId}
                  startedAt={startedAt}
                  place={rows.from + index + 1}
                  count={shown.length}
                  isOpen={open.has(event.id)}
                  onToggle={() => toggle(event.id)}
                  body={(element) => measure(event.id, element)}
                />
              ))}
            </ol>
          </div>
        </section>
      )}
    </section>
  );
}
