import type { Pool } from '../../src/worker/pool.ts';
import type { AgentSummary, Command } from '../../src/worker/protocol.ts';

/** A pool without threads: it writes down what it is sent, and the test is what would report. */
export class ScriptedPool implements Pool {
  readonly agents: readonly AgentSummary[] = [];
  readonly sent: Command[] = [];
  readonly retired: number[] = [];
  /** How many ran at once, at most. */
  most = 0;
  readonly #slots: number;
  readonly #running = new Set<string>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  freeSlots(): number {
    return this.#slots - this.#running.size;
  }

  get running(): number {
    return this.#running.size;
  }

  send(command: Command): void {
    this.sent.push(command);
    switch (command.kind) {
      case 'start':
      case 'adopt':
        this.#running.add(command.taskId);
        this.most = Math.max(this.most, this.running);
        break;
      case 'drop':
        this.#running.delete(command.taskId);
        break;
      case 'waited':
        if (command.answer === 'waiting') this.#running.delete(command.taskId);
    }
  }

  /** The copy of a task is gone by itself: its end was reported, or its worker is lost. */
  end(taskId: string): void {
    this.#running.delete(taskId);
  }

  /** Kinds of what was sent about a task. */
  toldTo(taskId: string): string[] {
    return this.sent.flatMap((command) => ('taskId' in command && command.taskId === taskId ? [command.kind] : []));
  }

  isHealthy(): boolean {
    return true;
  }

  async validate(): Promise<null> {
    return null;
  }

  retire(worker: number): void {
    this.retired.push(worker);
  }

  async stop(): Promise<void> {}
}
