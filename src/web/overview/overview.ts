import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import { type Client, type Conversation, HoldfastError, type LogEvent, type Question } from '../../client/index.ts';
import { isLogEvent } from '../log-event.ts';
import { failureWords } from '../words/failure.ts';
import { EMPTY_OVERVIEW, type OverviewState, withEvent, withResolved } from './overview-state.ts';
import { byId, type OverviewReading, readOverview } from './read-overview.ts';

/** Why the overview cannot be read, and when that is tried again: epoch ms by the device's clock, null for never. */
export interface Trouble {
  message: string;
  retryAt: number | null;
}

export interface Overview {
  readonly state: ReadonlySignal<OverviewState>;
  /** Whether the state has been read. What is shown when it must be read again stays until then. */
  readonly isReady: ReadonlySignal<boolean>;
  /** How often the state has been read. Whoever has read more reads it again when this grows. */
  readonly readings: ReadonlySignal<number>;
  readonly trouble: ReadonlySignal<Trouble | null>;
  readonly hasMoreConversations: ReadonlySignal<boolean>;
  loadMoreConversations(): Promise<void>;
  /** Tries at once what waits for its next attempt. */
  wake(): void;
  /** Shows a question as it is now, which an answer to it has told before its event does. */
  resolve(question: Question): void;
  /** Tells of each event as it happens, after the state shows it. @returns what ends that */
  onEvent(listener: (event: LogEvent) => void): () => void;
}

const TYPES = ['task.*', 'question.*', 'conversation.*', 'message.completed'];
const FEW_QUESTIONS = 100;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 15_000;

/** Reads what there is, follows what happens, and reads again when the log cannot say what was missed. */
export function createOverview(client: Client, closed: AbortSignal): Overview {
  const state = signal(EMPTY_OVERVIEW);
  const readings = signal(0);
  const isReady = computed(() => readings.value > 0);
  const trouble = signal<Trouble | null>(null);
  const nextPage = signal<string | null>(null);
  const hasMoreConversations = signal(false);
  const listeners = new Set<(event: LogEvent) => void>();
  let wake = () => {};

  async function run(): Promise<void> {
    let failures = 0;
    while (!closed.aborted) {
      try {
        const reading = await readOverview(client, closed);
        failures = 0;
        await follow(reading);
      } catch (error) {
        if (closed.aborted) return;
        const isFinal = error instanceof HoldfastError && /^(unauthorized|forbidden)$/.test(error.code);
        const waitMs = Math.min(FIRST_RETRY_MS * 2 ** failures++, MAX_RETRY_MS);
        trouble.value = { message: failureWords(error), retryAt: isFinal ? null : Date.now() + waitMs };
        if (isFinal) return;
        await pause(waitMs);
      }
    }
  }

  /** Comes back when the state must be read again. What had happened before it is caught up with is shown in one piece. */
  async function follow(reading: OverviewReading): Promise<void> {
    let unseen: OverviewState | null = reading.state;
    for await (const item of client.events({ after: reading.cursor, types: TYPES, signal: closed })) {
      if (item.type === 'reset') return;
      if (isLogEvent(item)) {
        if (unseen !== null) unseen = withEvent(unseen, item);
        else tell(item);
        // Those that were too many to be read have their turn.
        if (unseen === null && reading.hasMoreQuestions && state.value.questions.size < FEW_QUESTIONS) return;
      } else if (unseen !== null) {
        show(unseen, reading.nextPage);
        unseen = null;
      }
    }
  }

  function show(read: OverviewState, page: string | null): void {
    batch(() => {
      state.value = read;
      readings.value += 1;
      trouble.value = null;
      nextPage.value = page;
      hasMoreConversations.value = page !== null;
    });
  }

  function tell(event: LogEvent): void {
    state.value = withEvent(state.value, event);
    for (const listener of [...listeners]) listener(event);
    const { type, conversationId } = event;
    const isUnknown = conversationId !== null && !state.value.conversations.has(conversationId);
    if (type === 'message.completed' && isUnknown) findConversation(conversationId);
  }

  /** One further down the list has become active. */
  function findConversation(id: string): void {
    client.conversations.get(id, { signal: closed }).then(
      ({ title, metadata, createdAt, lastActivityAt }) => add([{ id, title, metadata, createdAt, lastActivityAt }]),
      () => {}, // Deleted meanwhile, or out of reach: a list that is read again has it.
    );
  }

  function add(conversations: Conversation[]): void {
    state.value = { ...state.value, conversations: new Map([...state.value.conversations, ...byId(conversations)]) };
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  run();
  return {
    state,
    isReady,
    readings,
    trouble,
    hasMoreConversations,
    async loadMoreConversations() {
      if (nextPage.value === null) return;
      const more = await client.conversations.list({ limit: 200, page: nextPage.value }, { signal: closed });
      nextPage.value = more.nextPage;
      hasMoreConversations.value = more.nextPage !== null;
      add(more.items);
    },
    wake: () => wake(),
    resolve(question) {
      if (question.status !== 'pending') state.value = withResolved(state.value, question);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
