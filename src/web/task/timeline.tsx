import { Disclosure } from '../ui/disclosure.tsx';
import { durationWords } from '../words/duration.ts';
import { type Lane, toLanes } from './lanes.ts';
import type { Mark, Span, TaskSpans } from './spans.ts';
import { timeScale } from './time-scale.ts';

const MAX_LANES = 24;
const MARK_WORDS: { [kind in Mark['kind']]: string } = {
  recovered: 'Its worker or the server was lost; it goes on from its journal',
  retrying: 'An attempt failed; another begins',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
const SPAN_WORDS: { [status in Span['status']]: string } = {
  open: 'still going on',
  done: 'done',
  failed: 'failed',
  void: 'ended before its end',
};

/** What a task did over time, as a picture and in words. */
export function Timeline({ spans: { spans, marks }, now }: { spans: TaskSpans; now: number }) {
  const [first] = spans;
  if (first === undefined) return null;
  const from = first.from;
  const isOpen = spans.some((span) => span.to === null);
  const lastAt = Math.max(...spans.map((span) => span.to ?? span.from), ...marks.map(({ at }) => at));
  const to = Math.max(from + 1, isOpen ? now : lastAt, lastAt);
  const scale = timeScale(spans, from, to);
  const lanes = toLanes(spans);
  const left = (at: number) => `${scale.place(at) * 100}%`;
  const width = (span: { from: number; to: number | null }) =>
    `${(scale.place(span.to ?? to) - scale.place(span.from)) * 100}%`;

  return (
    <section class="timeline" aria-label="Timeline">
      <header class="log-head">
        <h2>
          Timeline <span class="count">{durationWords(to - from)}</span>
        </h2>
        <ul class="legend" aria-hidden="true">
          <li class="bar-attempt">attempt</li>
          <li class="bar-waiting">waiting</li>
          <li class="bar-step">step</li>
          <li class="bar-tool">tool</li>
          <li class="bar-question">question</li>
        </ul>
      </header>
      <div class="lanes" aria-hidden="true">
        <div class="lane-marks">
          {scale.pauses.map((pause) => (
            <span key={pause.from} class="lane-pause" style={{ left: left(pause.from), width: width(pause) }} />
          ))}
          {marks.map(({ key, kind, at }) => (
            <span key={key} class={`lane-mark mark-${kind}`} style={{ left: left(at) }} title={MARK_WORDS[kind]} />
          ))}
        </div>
        {lanes.slice(0, MAX_LANES).map((lane) => (
          <LaneRow key={lane.key} lane={lane} left={left} width={width} />
        ))}
      </div>
      {lanes.length > MAX_LANES && <p class="fine">{lanes.length - MAX_LANES} more are in the text below.</p>}
      {scale.pauses.length > 0 && <p class="fine">Long waits are drawn shorter than they were.</p>}
      <Disclosure summary="Timeline as text">{() => <InWords spans={spans} marks={marks} from={from} />}</Disclosure>
    </section>
  );
}

interface LaneRowProps {
  lane: Lane;
  left(at: number): string;
  width(span: Span): string;
}

function LaneRow({ lane, left, width }: LaneRowProps) {
  return (
    <div class="lane">
      <bdi class="lane-label" title={lane.label}>
        {lane.label}
      </bdi>
      <div class="lane-bars">
        {lane.spans.map((span) => (
          <span
            key={span.key}
            class={`bar bar-${span.kind} bar-is-${span.status}`}
            style={{ left: left(span.from), width: width(span) }}
            title={`${span.name}: ${span.to === null ? SPAN_WORDS.open : durationWords(span.to - span.from)}`}
          />
        ))}
      </div>
    </div>
  );
}

function InWords({ spans, marks, from }: TaskSpans & { from: number }) {
  const lines = [
    ...spans.map((span) => ({ key: span.key, at: span.from, text: spanWords(span) })),
    ...marks.map(({ key, kind, at }) => ({ key, at, text: MARK_WORDS[kind] })),
  ].sort((a, b) => a.at - b.at);
  return (
    <ol class="timeline-words">
      {lines.map(({ key, at, text }) => (
        <li key={key}>
          <span class="event-at">+{durationWords(at - from)}</span> <bdi>{text}</bdi>
        </li>
      ))}
    </ol>
  );
}

function spanWords({ kind, name, status, from, to, attempt }: Span): string {
  const what =
    kind === 'step'
      ? `Step ${name}`
      : kind === 'tool'
        ? `Tool ${name}`
        : kind === 'question'
          ? `Question ${name}`
          : name;
  const again = attempt > 1 && kind !== 'attempt' ? `, attempt ${attempt}` : '';
  return to === null
    ? `${what}${again}: ${SPAN_WORDS[status]}`
    : `${what}${again}: ${SPAN_WORDS[status]} after ${durationWords(to - from)}`;
}
