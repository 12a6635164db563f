import type { Answers, Question } from '../../model/question.ts';
import type { Client } from '../client.ts';
import { HoldfastError } from '../error.ts';
import { newIdempotencyKey } from '../requests/idempotency-key.ts';
import type { ConversationView, Draft } from './conversation-view.ts';
import type { StoredDraft, StoredDrafts } from './draft-storage.ts';

/** What is being answered in a conversation. */
export interface Drafts {
  /** Another object after each change. */
  all(): ConversationView['drafts'];
  set(questionId: string, values: Draft['values']): void;
  /** Sends it until the server has decided. Never rejects. */
  answer(questionId: string, answers: Answers): Promise<void>;
  /**
   * Finds the drafts of these, sends on what was on its way, and lets go of those whose questions were pending before.
   *
   * @param pending all that is known to be
   */
  follow(pending: readonly Question[]): void;
  forget(questionId: string): void;
}

/**
 * @param onDecided called when the server has decided of an answer; with the question unless it was refused, whoever
 *   resolved that
 */
export function createDrafts(
  questions: Client['questions'],
  stored: StoredDrafts,
  onDecided: (question: Question | null) => void,
): Drafts {
  let drafts: ConversationView['drafts'] = {};
  let followed: readonly Question[] = [];
  const underWay = new Map<string, Promise<void>>();

  function show(questionId: string, draft: Draft | null): void {
    const { [questionId]: _, ...others } = drafts;
    drafts = draft === null ? others : { ...others, [questionId]: draft };
  }

  function forget(questionId: string): void {
    stored.remove(questionId);
    if (questionId in drafts) show(questionId, null);
  }

  function submit(questionId: string, draft: Draft, sent: NonNullable<StoredDraft['sent']>): Promise<void> {
    const known = underWay.get(questionId);
    if (known !== undefined) return known;
    const submission = decide(questionId, draft, sent).finally(() => underWay.delete(questionId));
    underWay.set(questionId, submission);
    return submission;
  }

  async function decide(
    questionId: string,
    { values }: Draft,
    { answers, idempotencyKey }: NonNullable<StoredDraft['sent']>,
  ): Promise<void> {
    try {
      const question = await questions.answer(questionId, answers, { idempotencyKey });
      forget(questionId);
      onDecided(question);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      // Nobody has decided: whoever opens the conversation next sends it again.
      if (error.code === 'aborted') return;
      if (error.question !== null) forget(questionId);
      else refuse(questionId, values, idempotencyKey, error);
      onDecided(error.question);
    }
  }

  function refuse(questionId: string, values: Draft['values'], key: string, failure: HoldfastError): void {
    const { code, message, errors } = failure;
    const draft: Draft = { values, status: 'refused', error: { code, message, errors } };
    // Another tab may have begun to send something else.
    if (stored.read(questionId)?.sent?.idempotencyKey === key) stored.write(questionId, { draft, sent: null });
    show(questionId, draft);
  }

  return {
    all: () => drafts,
    set(questionId, values) {
      if (underWay.has(questionId)) return;
      const draft: Draft = { values, status: 'editing', error: null };
      // What another tab is sending has to survive.
      if (stored.read(questionId)?.draft.status !== 'submitting') stored.write(questionId, { draft, sent: null });
      show(questionId, draft);
    },
    answer(questionId, answers) {
      const known = underWay.get(questionId);
      if (known !== undefined) return known;
      const draft: Draft = { values: drafts[questionId]?.values ?? answers, status: 'submitting', error: null };
      const sent = { answers, idempotencyKey: newIdempotencyKey() };
      stored.write(questionId, { draft, sent });
      show(questionId, draft);
      return submit(questionId, draft, sent);
    },
    follow(pending) {
      if (pending === followed) return;
      const before = followed;
      followed = pending;
      for (const { id } of before) if (!isAmong(pending, id)) forget(id);
      for (const { id } of pending) {
        const found = isAmong(before, id) || underWay.has(id) ? null : stored.read(id);
        if (found === null) continue;
        show(id, found.draft);
        if (found.sent !== null) void submit(id, found.draft, found.sent);
      }
    },
    forget,
  };
}

function isAmong(questions: readonly Question[], id: string): boolean {
  return questions.some((question) => question.id === id);
}
