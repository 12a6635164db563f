import type { ResultOf, VerbCall } from '../../src/model/batch.ts';
import type { Event } from '../../src/model/event.ts';
import { type Cut, childKey } from '../../src/model/journal.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { Outcome } from '../../src/model/verb.ts';
import type { Committed } from '../../src/store/store.ts';
import { JournalMirror } from './journal-mirror.ts';

/** What all commits of a world came to, in their order. */
export class History {
  readonly events: Event[] = [];
  readonly journal = new JournalMirror();
  readonly commits: { calls: readonly VerbCall[]; refused: string[] }[] = [];
  /** What does not fit what was committed before. */
  readonly contradictions: string[] = [];
  readonly #chains = new Map<string, string>();
  readonly #cuts = new Map<string, Cut[]>();
  readonly #cutSeqs = new Set<number>();
  readonly #messages = new Map<string, string[]>();

  /** The first task of the chain of retries that this one is in. */
  chainOf(taskId: string): string {
    return this.#chains.get(taskId) ?? taskId;
  }

  /** Where its journal was taken back to between its attempts. */
  cutsOf(taskId: string): readonly Cut[] {
    return this.#cuts.get(taskId) ?? [];
  }

  /** Whether the journal was cut with the event at this place. */
  wasCutAt(seq: number): boolean {
    return this.#cutSeqs.has(seq);
  }

  /** The JSON of the messages that were sent to a task and to those that it retries, oldest first. */
  messagesOf(taskId: string): readonly string[] {
    return this.#messages.get(taskId) ?? [];
  }

  /** Takes in a commit. `taskOf` shows the tasks as they are right behind it. */
  take(calls: readonly VerbCall[], committed: Committed, taskOf: (taskId: string) => TaskRecord): void {
    const { outcomes, events, eventCounts } = committed;
    this.events.push(...events);
    this.commits.push({ calls, refused: outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.code])) });
    let first = 0;
    for (const [index, call] of calls.entries()) {
      const own = events.slice(first, first + (eventCounts[index] ?? 0));
      first += own.length;
      const outcome = outcomes[index];
      if (outcome?.ok) this.#before(call, outcome, own);
      this.journal.take(call, index, committed);
      if (outcome?.ok) this.#after(call, own, taskOf);
    }
  }

  #before(call: VerbCall, outcome: Outcome<unknown> & { ok: true }, events: readonly Event[]): void {
    if (call.verb === 'claimTask') this.#compare(call.args.taskId, outcome.result as ResultOf<'claimTask'>);
    const { journal } = this;
    const isAsked = call.verb === 'askQuestion' && events.length > 0;
    if (isAsked && journal.row(call.args.taskId, call.args.key) !== undefined) {
      this.contradictions.push(`The question ${call.args.key} is asked twice.`);
    }
    if (call.verb === 'spawnTask' && journal.row(call.args.taskId, childKey(call.args.key)) !== undefined) {
      this.contradictions.push(`The child ${call.args.key} is made twice.`);
    }
  }

  #after(call: VerbCall, events: readonly Event[], taskOf: (taskId: string) => TaskRecord): void {
    if (call.verb === 'retryTask') this.#retry(call.args, taskOf);
    if (call.verb === 'spawnTask') this.#continue(call.args.childId, taskOf);
    if (call.verb === 'failTask') this.#fail(call.args, events);
    if (call.verb !== 'addToInbox') return;
    const { taskId, message } = call.args;
    this.#messages.set(taskId, [...this.messagesOf(taskId), JSON.stringify(message)]);
  }

  /** What a new copy is given is what was committed. */
  #compare(taskId: string, { rows }: ResultOf<'claimTask'>): void {
    if (rows === null) return;
    const text = (given: readonly { key: string }[]) =>
      given
        .map((row) => {
          const { key, kind, status, value, askedAt, ord, emitsDone, at } = row as (typeof rows)[number];
          return JSON.stringify({ key, kind, status, value, askedAt, ord, emitsDone, at });
        })
        .sort();
    const [stored, committed] = [text(rows), text(this.journal.rows(taskId))];
    if (stored.join('\n') === committed.join('\n')) return;
    const more = stored.filter((row) => !committed.includes(row));
    const less = committed.filter((row) => !stored.includes(row));
    this.contradictions.push(`A copy is given ${more.join() || 'nothing'} in place of ${less.join() || 'nothing'}.`);
  }

  #retry({ taskId, newTaskId }: { taskId: string; newTaskId: string }, taskOf: (taskId: string) => TaskRecord): void {
    this.#chains.set(newTaskId, this.chainOf(taskId));
    this.#messages.set(newTaskId, [...this.messagesOf(taskId)]);
    this.journal.copy(taskId, newTaskId, taskOf(taskId).cut);
  }

  /** A child that is made anew goes on where the one before it can. */
  #continue(childId: string, taskOf: (taskId: string) => TaskRecord): void {
    const { retryOf } = taskOf(childId);
    if (retryOf !== null) this.#retry({ taskId: retryOf, newTaskId: childId }, taskOf);
  }

  #fail({ taskId, cut }: { taskId: string; cut: Cut | null }, events: readonly Event[]): void {
    const retried = events.find((event) => event.taskId === taskId && event.type === 'task.retrying');
    if (retried === undefined || cut === null) return;
    this.#cutSeqs.add(retried.seq);
    this.#cuts.set(taskId, [...this.cutsOf(taskId), cut]);
    this.journal.cut(taskId, cut);
  }
}
