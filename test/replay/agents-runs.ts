import { type Agent, defineAgent } from '../../src/worker/define-agent.ts';
import type { Command } from '../../src/worker/protocol.ts';
import { errorText, observe, type Surroundings } from './agent-side.ts';
import type { InProcessWorker } from './in-process-pool.ts';
import type { BodyRun, Incarnation } from './trace.ts';
import type { World } from './world.ts';

type Start = Extract<Command, { kind: 'start' }>;

interface Raw {
  incarnation: Incarnation;
  label: string;
  taskId: string;
  settle(): void;
}

/** Every run of agents' code in a world, and what the code waits for beside its handle. */
export class AgentsRuns implements Surroundings {
  readonly incarnations: Incarnation[] = [];
  readonly bodies: BodyRun[] = [];
  raws: Raw[] = [];
  /** By chain of retries and what was drawn: all values that were given for it. */
  readonly draws = new Map<string, Set<string | number>>();
  readonly asksForResults: boolean;
  readonly #world: World;
  readonly #starts = new Map<string, Start>();
  #last = 0;

  constructor(world: World, asksForResults: boolean) {
    this.asksForResults = asksForResults;
    this.#world = world;
  }

  agentsOf(workerIndex: number): Agent[] {
    return Object.entries(this.#world.agents).map(([name, agent]) =>
      defineAgent({
        name,
        run: async (handle) => {
          const incarnation = this.#begin(handle.id, workerIndex);
          const [task, side] = observe(handle, incarnation, this);
          try {
            const value = (await agent(task, side)) ?? null;
            incarnation.trace.push({ at: 'end', ok: true, value: JSON.stringify(value) });
            return value;
          } catch (error) {
            incarnation.trace.push({ at: 'end', ok: false, value: errorText(error) });
            throw error;
          }
        },
      }),
    );
  }

  /** Learns of a command that is passed to a worker. */
  commanded(command: Command, worker: InProcessWorker): void {
    if (command.kind === 'start') this.#starts.set(command.taskId, command);
    if (command.kind !== 'adopt') return;
    const copy = this.incarnations.findLast(
      ({ taskId, worker: index, isAlive }) => taskId === command.taskId && index === worker.index && isAlive(),
    );
    if (copy?.fence === command.fence - 1) copy.fence = command.fence;
  }

  lose(worker: InProcessWorker): void {
    const isLost = ({ incarnation }: Raw) => incarnation.worker === worker.index && !incarnation.isAlive();
    this.raws = this.raws.filter((raw) => !isLost(raw));
  }

  of(taskId: string): Incarnation[] {
    return this.incarnations.filter((incarnation) => incarnation.taskId === taskId);
  }

  raw(incarnation: Incarnation, label: string): Promise<void> {
    return new Promise((resolve) => {
      const raw: Raw = {
        incarnation,
        label,
        taskId: incarnation.taskId,
        settle: () => {
          this.raws = this.raws.filter((other) => other !== raw);
          resolve();
        },
      };
      if (incarnation.isAlive()) this.raws.push(raw);
    });
  }

  begin(run: BodyRun): number {
    const { taskId, key, incarnation } = run;
    const { history } = this.#world;
    const chain = history.chainOf(taskId);
    this.bodies.push(run);
    const task = this.#world.task(taskId);
    const holds = incarnation.isAlive() && task.status === 'running' && task.fence === incarnation.fence;
    if (holds && (history.journal.row(taskId, key)?.status ?? 'pending') !== 'pending') {
      this.#world.troubles.push(`The body of ${key} runs though it was committed.`);
    }
    return this.bodies.filter((other) => other.key === key && history.chainOf(other.taskId) === chain).length;
  }

  fresh(): number {
    return ++this.#last;
  }

  drawn({ taskId }: Incarnation, what: string, value: string | number): void {
    const drawn = `${this.#world.history.chainOf(taskId)} ${what}`;
    const values = this.draws.get(drawn) ?? new Set();
    this.draws.set(drawn, values.add(value));
  }

  #begin(taskId: string, workerIndex: number): Incarnation {
    const start = this.#starts.get(taskId);
    if (start === undefined) throw new Error('A copy begins with a start.');
    const worker = this.#world.process.pool.find(workerIndex);
    const incarnation: Incarnation = {
      taskId,
      fence: start.fence,
      worker: workerIndex,
      cuts: this.#world.history.cutsOf(taskId).length,
      rows: start.rows,
      emits: start.emits,
      trace: [],
      isAlive: () => worker.isAlive,
    };
    this.incarnations.push(incarnation);
    return incarnation;
  }
}
