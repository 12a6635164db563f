import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CodeCopy } from './failpoint-copy.ts';
import type { History, Life } from './history.ts';
import type { Boot } from './nemesis.ts';

/** Below the repository. */
export const AGENTS = 'test/chaos/agents/scripted-agents.ts';

export interface ServerLivesOptions {
  /** What is to be run, made with {@link AGENTS}. */
  code: CodeCopy;
  /** The flags of `serve` that say where its data is. */
  storage: readonly string[];
  port: number;
  history: History;
  /** How the next life is started. @param life counts from 1 */
  boot(life: number): Boot;
}

/** One server over one place of data and one port, through all the processes that it is one after the other. */
export class ServerLives {
  readonly url: string;
  readonly #options: ServerLivesOptions;
  #process: { child: ChildProcess; life: Life; ended: Promise<Life> } | null = null;

  constructor(options: ServerLivesOptions) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
  }

  /** Whether there is a process. It may not serve yet. */
  get isUp(): boolean {
    return this.#process !== null;
  }

  /** Settles when the present process has ended, in whatever way. */
  get ended(): Promise<Life> {
    if (this.#process === null) throw new Error('There is no process.');
    return this.#process.ended;
  }

  /**
   * Begins the next life.
   *
   * @returns true once it serves, false when it has ended before
   */
  async start(): Promise<boolean> {
    if (this.#process !== null) throw new Error('There is a process already.');
    const { code, storage, port, history, boot } = this.#options;
    const { env = {}, mayEndItself = false } = boot(history.lives.length + 1);
    const flags = ['--port', `${port}`, ...storage, '--workers', '2', '--log-level', 'warn'];
    const child = spawn(process.execPath, [code.main, 'serve', ...flags, '--agents', code.agents(AGENTS)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const life: Life = {
      pid: child.pid ?? 0,
      bootedAt: Date.now(),
      readyAt: null,
      toldToEndAt: null,
      endedAt: null,
      endedBy: null,
      pauses: [],
      mayEndItself,
      code: null,
      signal: null,
      stderr: '',
    };
    history.lives.push(life);
    // It does not outlive who started it, where that can be helped.
    const reap = () => child.kill('SIGKILL');
    process.once('exit', reap);
    child.once('exit', () => process.off('exit', reap));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      life.stderr += text;
    });
    const ended = this.#end(child, life);
    this.#process = { child, life, ended };
    const ready = once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data').then(() => {
      life.readyAt = Date.now();
    });
    await Promise.race([ready, ended]);
    return life.readyAt !== null && life.endedAt === null;
  }

  /** SIGKILL. Settles when the process is gone. */
  async kill(): Promise<void> {
    await this.#send('SIGKILL', 'kill');
  }

  /** SIGTERM. Settles when the process is gone. */
  async stop(): Promise<void> {
    await this.#send('SIGTERM', 'stop');
  }

  /** SIGSTOP: it stands still, and knows nothing of that. @returns what lets it go on, unless it has ended meanwhile */
  pause(): () => void {
    if (this.#process === null) throw new Error('There is no process.');
    const { child, life } = this.#process;
    const pause = { from: Date.now(), to: null as number | null };
    life.pauses.push(pause);
    child.kill('SIGSTOP');
    return () => {
      pause.to = Date.now();
      child.kill('SIGCONT');
    };
  }

  async #send(signal: NodeJS.Signals, endedBy: 'kill' | 'stop'): Promise<void> {
    if (this.#process === null) return;
    const { child, life, ended } = this.#process;
    life.endedBy = endedBy;
    life.toldToEndAt = Date.now();
    child.kill(signal);
    await ended;
  }

  async #end(child: ChildProcess, life: Life): Promise<Life> {
    const [code, signal] = await once(child, 'exit');
    Object.assign(life, { code, signal, endedAt: Date.now(), endedBy: life.endedBy ?? 'itself' });
    this.#process = null;
    this.#options.history.note('life', life);
    return life;
  }
}
