import type { VerbCall } from '../../src/model/batch.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import type { Seen } from './seen.ts';

/** What somebody outside wants done; asked again after a loss, until it is committed. */
export interface Request {
  call: VerbCall;
  isUnderWay: boolean;
  when(): boolean;
}

export type Answer = 'answer' | 'decline' | null;

export interface OutsideOptions {
  seen: Seen;
  owner: string;
  /** What becomes of a question. */
  person(question: QuestionRecord): Answer;
  /** A value that comes only once. */
  fresh(): number;
}

/** People and programs that use the server. */
export class Outside {
  readonly #options: OutsideOptions;
  readonly #known = new Set<string>();
  #requests: Request[] = [];

  constructor(options: OutsideOptions) {
    this.#options = options;
  }

  /** What is wanted now. */
  get wanted(): Request[] {
    return this.#requests.filter(({ isUnderWay, when }) => !isUnderWay && when());
  }

  request(call: VerbCall, when: () => boolean): void {
    this.#requests.push({ call, isUnderWay: false, when });
  }

  committed(calls: readonly VerbCall[]): void {
    this.#requests = this.#requests.filter(({ call }) => !calls.includes(call));
  }

  /** Nobody has heard of what was under way. */
  disconnect(): void {
    for (const request of this.#requests) request.isUnderWay = false;
  }

  /** People look at what they are asked. */
  look(): void {
    const { seen, person } = this.#options;
    for (const question of seen.pending) {
      if (this.#known.has(question.id)) continue;
      this.#known.add(question.id);
      const answer = person(question);
      if (answer !== null) this.request(this.#reply(question.id, answer), () => true);
    }
  }

  #reply(questionId: string, answer: 'answer' | 'decline'): VerbCall {
    const { owner, fresh } = this.#options;
    if (answer === 'decline') {
      return { verb: 'declineQuestion', args: { questionId, reason: `no ${fresh()}`, resolvedBy: owner } };
    }
    const given = { answer: `yes ${fresh()}` };
    return { verb: 'answerQuestion', args: { questionId, given, resolvedBy: owner } };
  }
}
