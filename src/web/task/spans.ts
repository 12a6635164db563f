import { isServerEvent, type Json, type LogEvent, type Question } from '../../client/index.ts';
import type { TaskError } from '../../model/task-error.ts';

/** A stretch of time in which something of a task went on. Times are epoch ms by the server's clock. */
export interface Span {
  key: string;
  kind: 'attempt' | 'waiting' | 'step' | 'tool' | 'question';
  name: string;
  /** `void`: it never came to its own end, since what ran it was lost, cancelled or replaced. */
  status: 'open' | 'done' | 'failed' | 'void';
  from: number;
  /** Null while it is open. */
  to: number | null;
  attempt: number;
  /** Only of a tool's call. */
  tool: { input: Json; output: Json; truncated: boolean } | null;
  error: TaskError | null;
}

/** Something that happened at an instant. */
export interface Mark {
  key: string;
  kind: 'recovered' | 'retrying' | 'completed' | 'failed' | 'cancelled';
  at: number;
}

/** What a task and its children have done over time. */
export interface TaskSpans {
  /** In the order in which they began. */
  spans: readonly Span[];
  marks: readonly Mark[];
}

export interface SpanBuilder {
  /** Takes a task's events in their order. */
  add(event: LogEvent): void;
  /** Spans that have not changed are the same objects as before. */
  read(): TaskSpans;
}

const ENDINGS = { 'task.completed': 'completed', 'task.failed': 'failed', 'task.cancelled': 'cancelled' } as const;
const ATTEMPT_ENDS = { completed: 'done', failed: 'failed', cancelled: 'void' } as const;

export function createSpans(): SpanBuilder {
  const spans: Span[] = [];
  const marks: Mark[] = [];
  /** Where the open span of a thing is: of an attempt, a wait, a step, a question, each of its task. */
  const open = new Map<string, number>();

  function begin(what: string, span: Pick<Span, 'kind' | 'name' | 'from'> & { attempt?: number }): void {
    end(what, span.from, 'void');
    const key = `${what} ${spans.length}`;
    open.set(what, spans.length);
    spans.push({ key, status: 'open', to: null, attempt: 1, tool: null, error: null, ...span });
  }

  function change(what: string, by: (span: Span) => Partial<Span>): void {
    const index = open.get(what);
    const span = index === undefined ? undefined : spans[index];
    if (index !== undefined && span !== undefined) spans[index] = { ...span, ...by(span) };
  }

  function end(what: string, to: number, status: Span['status'], error?: TaskError): void {
    change(what, (span) => ({ to, status, error: error ?? span.error }));
    open.delete(what);
  }

  /** Nothing of a task runs any more. */
  function endAllOf(taskId: string, at: number): void {
    for (const what of [...open.keys()]) if (what.startsWith(`${taskId} `)) end(what, at, 'void');
  }

  function add(event: LogEvent): void {
    if (!isServerEvent(event) || event.taskId === null) return;
    const { taskId } = event;
    const at = Date.parse(event.at);
    switch (event.type) {
      case 'task.started': {
        const { attempt } = event.data;
        begin(`${taskId} attempt`, { kind: 'attempt', name: `Attempt ${attempt}`, from: at, attempt });
        break;
      }
      case 'task.waiting':
        begin(`${taskId} waiting`, { kind: 'waiting', name: waitingName(event.data.for), from: at });
        break;
      case 'task.resumed':
        end(`${taskId} waiting`, at, 'done');
        break;
      case 'task.recovered':
        marks.push({ key: event.id, kind: 'recovered', at });
        endAllOf(taskId, at);
        break;
      case 'task.retrying':
        marks.push({ key: event.id, kind: 'retrying', at });
        end(`${taskId} attempt`, at, 'failed', event.data.error);
        endAllOf(taskId, at);
        break;
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled': {
        const kind = ENDINGS[event.type];
        if (event.rootId === undefined) marks.push({ key: event.id, kind, at });
        end(`${taskId} attempt`, at, ATTEMPT_ENDS[kind], event.type === 'task.failed' ? event.data.error : undefined);
        endAllOf(taskId, at);
        break;
      }
      case 'step.started': {
        const { name, attempt } = event.data;
        begin(`${taskId} step ${name}`, { kind: 'step', name, from: at, attempt });
        break;
      }
      case 'step.completed':
        end(`${taskId} step ${event.data.name}`, at, 'done');
        break;
      case 'step.failed':
        end(`${taskId} step ${event.data.name}`, at, 'failed', event.data.error);
        break;
      case 'tool.called': {
        const { name, input } = event.data;
        const tool = { input, output: null, truncated: false };
        change(`${taskId} step ${event.step?.name}`, () => ({ kind: 'tool', name, tool }));
        break;
      }
      case 'tool.returned':
        change(`${taskId} step ${event.step?.name}`, ({ tool }) => returned(tool, event.data));
        break;
      case 'question.asked':
        begin(`${taskId} question ${event.data.question.id}`, {
          kind: 'question',
          name: questionName(event.data.question),
          from: at,
        });
        break;
      case 'question.answered':
        end(`${taskId} question ${event.data.questionId}`, at, 'done');
        break;
      case 'question.declined':
      case 'question.expired':
      case 'question.cancelled':
        end(`${taskId} question ${event.data.questionId}`, at, 'void');
    }
  }

  return { add, read: () => ({ spans: [...spans], marks: [...marks] }) };
}

function returned(
  tool: Span['tool'],
  data: { output: Json; truncated?: true } | { error: TaskError },
): Pick<Span, 'tool' | 'error'> {
  if ('error' in data || tool === null) return { tool, error: 'error' in data ? data.error : null };
  return { tool: { ...tool, output: data.output, truncated: data.truncated === true }, error: null };
}

function waitingName(reasons: readonly ('people' | 'timer' | 'children')[]): string {
  const words = { people: 'people', timer: 'a timer', children: 'other tasks' };
  return `Waiting for ${reasons.map((reason) => words[reason]).join(' and ')}`;
}

function questionName({ items }: Question): string {
  const [first] = items;
  return first?.header ?? first?.prompt.split('\n', 1)[0] ?? 'Question';
}
