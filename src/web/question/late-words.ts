import type { Answers, Json, Question } from '../../client/index.ts';
import { answerLine } from '../words/resolution.ts';

/**
 * What to say to who has sent an answer, or wanted to decline, and was not the one whose word counted; null to who was.
 *
 * @param question as it was resolved
 * @param sent null when it was to be declined
 */
export function lateWords(question: Question, sent: Answers | null): string | null {
  const mine = sent === null ? 'You did not decline it.' : 'Your answer was not used.';
  switch (question.status) {
    case 'pending':
      return null;
    case 'answered':
      if (sent !== null && isSame(sent, question.answers ?? {})) return null;
      return `Somebody was quicker: ${question.resolvedBy} answered “${answerLine(question)}”. ${mine}`;
    case 'declined':
      if (sent === null) return null;
      return `Somebody was quicker: ${question.resolvedBy} declined to answer. ${mine}`;
    case 'expired':
      return `The time to answer was over before yours arrived. ${mine}`;
    case 'cancelled':
      return `The question had been withdrawn before you answered. ${mine}`;
  }
}

/** As the server compares: without nulls, and several choices in any order. */
function isSame(a: Answers, b: Answers): boolean {
  const ids = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...ids].every((id) => comparable(a[id]) === comparable(b[id]));
}

function comparable(value: Json | undefined): string {
  return JSON.stringify(Array.isArray(value) ? value.map(String).sort() : (value ?? null));
}
