import type { Question } from '../../client/index.ts';

/** How a question came to its end, in a few words. `who` stands apart since others have chosen it. */
export interface ResolutionWords {
  text: string;
  who: string | null;
}

export function resolutionWords({ status, resolvedBy, reason }: Question): ResolutionWords {
  switch (status) {
    case 'pending':
      return { text: 'Waiting for an answer', who: null };
    case 'answered':
      return { text: 'Answered by', who: resolvedBy };
    case 'declined':
      return { text: 'Declined by', who: resolvedBy };
    case 'expired':
      return { text: 'Nobody answered in time', who: null };
    case 'cancelled':
      return { text: cancelledWords(reason), who: null };
  }
}

function cancelledWords(reason: string | null): string {
  switch (reason) {
    case 'interrupted':
      return 'Withdrawn, since a new message interrupted the turn';
    case 'task_finished':
      return 'Withdrawn, since its task ended';
    case 'withdrawn':
      return 'Withdrawn by the agent';
    default:
      return 'Withdrawn, since its task was cancelled';
  }
}

/** What was answered to each item, in the order of the items, in the words of the options. */
export function answerWords(question: Question): { id: string; label: string; answer: string | null }[] {
  return question.items.map((item) => {
    const answers = question.answers ?? {};
    const value = Object.hasOwn(answers, item.id) ? (answers[item.id] ?? null) : null;
    const label = item.header ?? firstLine(item.prompt);
    if (value === null) return { id: item.id, label, answer: null };
    if (typeof value === 'boolean') return { id: item.id, label, answer: value ? 'Yes' : 'No' };
    const values = Array.isArray(value) ? value : [value];
    const named = values.map((each) =>
      item.type === 'choice'
        ? (item.options.find((option) => option.value === each)?.label ?? String(each))
        : String(each),
    );
    return { id: item.id, label, answer: named.length === 0 ? 'None' : named.join(', ') };
  });
}

/** The same for a screen reader, or a line of a list: `June`, `Month: June; Notes: none`. */
export function answerLine(question: Question): string {
  const given = answerWords(question).filter(({ answer }) => answer !== null);
  if (given.length === 1) return given[0]?.answer ?? '';
  return given.map(({ label, answer }) => `${label}: ${answer}`).join('; ');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text;
}

/** The same as news, for who hears it or is elsewhere on the page: a sentence without its stop. */
export function resolutionNews(question: Question): string {
  switch (question.status) {
    case 'pending':
      return 'A question is pending';
    case 'answered':
      return `${question.resolvedBy} answered “${answerLine(question)}”`;
    case 'declined':
      return `${question.resolvedBy} declined to answer`;
    case 'expired':
      return 'The time to answer a question is over';
    case 'cancelled':
      return 'A question was withdrawn';
  }
}
