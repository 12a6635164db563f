import { isTerminal, type Story } from './story.ts';

/** What rounds have seen, added up. */
export class Totals {
  readonly counts = { events: 0, kills: 0, stops: 0, tasks: 0, questions: 0, answers: 0, recovered: 0 };
  /** From the end of a process to where the next one serves, in ms. */
  readonly #restarts: number[] = [];
  /** From where a process serves to where it has begun again what the one before had begun, in ms. */
  readonly #recoveries: number[] = [];

  add({ log, lives, requests, tasks, questions }: Story): void {
    this.counts.events += log.length;
    this.counts.kills += lives.filter(({ signal }) => signal === 'SIGKILL').length;
    this.counts.stops += lives.filter(({ endedBy }) => endedBy === 'stop').length;
    this.counts.tasks += tasks.length;
    this.counts.questions += questions.length;
    this.counts.answers += requests.filter(({ verb, reply }) => verb === 'answer' && reply?.status === 200).length;
    for (const [index, { readyAt }] of lives.entries()) {
      const before = lives[index - 1]?.endedAt;
      if (before != null && readyAt !== null) this.#restarts.push(readyAt - before);
    }
    const recovered = new Set<string>();
    for (const event of log) {
      if (event.type === 'task.recovered') recovered.add(event.taskId);
      if (isTerminal(event)) recovered.delete(event.taskId);
      if (event.type !== 'task.started' || !recovered.delete(event.taskId)) continue;
      const at = Date.parse(event.at);
      const life = lives.find(({ bootedAt, endedAt }) => bootedAt <= at && at <= (endedAt ?? at));
      this.counts.recovered += 1;
      if (life?.readyAt != null) this.#recoveries.push(Math.max(0, at - life.readyAt));
    }
  }

  /** In a few words. */
  get text(): string {
    const counts = Object.entries(this.counts).map(([name, count]) => `${count} ${name}`);
    return `${counts.join(', ')}; from kill to ready ${spread(this.#restarts)}; from ready to begun again ${spread(this.#recoveries)}`;
  }
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return sorted.length === 0 ? 'never' : `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
