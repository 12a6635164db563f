import type { TaskHandle } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/json.ts';
import type { AgentSide, TestAgent } from './agent-side.ts';
import type { Node, Style } from './program.ts';

/** The agent that runs programs, and whose children do. */
export const interpreter: TestAgent = async (task, side) => {
  const { style, main } = task.input as { style: Style; main: Node };
  return new Run(task, side, style).result(main);
};

/** An error of a program's own. */
class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

class Run {
  readonly #task: TaskHandle;
  readonly #side: AgentSide;
  /** All that was learned, in its order: it shapes what comes after, where the order is given by the handle. */
  readonly #story: string[] = [];
  readonly #shares: boolean;
  readonly #style: Style;
  #occurrences = new Map<string, number>();

  constructor(task: TaskHandle, side: AgentSide, style: Style) {
    this.#task = task;
    this.#side = side;
    this.#style = style;
    this.#shares = style !== 'parallel';
  }

  async result(main: Node): Promise<Json> {
    const value = await this.#run(main, 'begun');
    return this.#shares ? [value, ...this.#story] : value;
  }

  /** @param last the value before, which decides what is picked @returns the value of the node */
  async #run(node: Node, last: string): Promise<string> {
    const task = this.#task;
    switch (node.op) {
      case 'step': {
        const work = this.#side.fails(node.fails, node.name);
        const value = await task.step(
          this.#named(node.name),
          async (step) => {
            for (let n = 0; n < node.tells; n++) await step.emit('program.inside', { key: node.name, n });
            return work(step);
          },
          { once: node.once },
        );
        return this.#learn(value);
      }
      case 'emit':
        await task.emit('program.told', { id: this.#occurrence(node.id) });
        return this.#learn(node.id, last);
      case 'progress':
        await task.progress(0.5, this.#occurrence(node.id));
        return this.#learn(node.id, last);
      case 'ask':
        return this.#learn(await this.#ask(node.name, node.reply));
      case 'withdraw':
        return this.#withdraw(node, last);
      case 'sleep':
        await task.sleep(this.#named(node.name), node.ms);
        return this.#learn(node.name, last);
      case 'child':
        return this.#child(node, last);
      case 'inbox':
        return this.#learn(JSON.stringify(await task.inbox()));
      case 'values':
        return this.#learn(this.#values(node.name));
      case 'raw':
        await this.#side.raw();
        return last;
      case 'seq': {
        let value = last;
        for (const inner of node.body) value = await this.#run(inner, value);
        return value;
      }
      case 'all':
        return this.#learn((await Promise.all(node.body.map((inner) => this.#run(inner, last)))).join());
      case 'race':
        return this.#learn(await Promise.race(node.body.map((inner) => this.#run(inner, last))));
      case 'any':
        return this.#learn(await Promise.any(node.body.map((inner) => this.#run(inner, last))));
      case 'allSettled': {
        const settled = await Promise.allSettled(node.body.map((inner) => this.#run(inner, last)));
        return this.#learn(settled.map((one) => (one.status === 'fulfilled' ? one.value : `${one.reason}`)).join());
      }
      case 'loop': {
        let value = last;
        for (let n = 0; n < node.times; n++) value = await this.#run(node.body, value);
        return value;
      }
      case 'either':
        return this.#run(node.body[hash(last) % 2 === 0 ? 0 : 1], last);
      case 'try':
        return this.#try(node, last);
      case 'detached':
        this.#run(node.body, last).catch(() => {});
        return last;
      case 'throw':
        throw new ProgramError(node.id);
    }
  }

  async #try(node: Extract<Node, { op: 'try' }>, last: string): Promise<string> {
    try {
      return await this.#run(node.body, last);
    } catch (error) {
      const value = await this.#run(node.caught, last);
      if (node.after === 'go on') return value;
      if (node.after === 'rethrow') throw error;
      throw new ProgramError('wrapped', node.after === 'wrap' ? undefined : { cause: error });
    } finally {
      if (node.lastly !== null) await this.#run(node.lastly, last);
    }
  }

  async #ask(name: string, reply: string, signal?: AbortSignal): Promise<string> {
    const spec = {
      items: [{ id: 'a', prompt: 'Well?' }],
      metadata: { reply },
      ...(reply === 'never' && { timeoutMs: 30 }),
      ...(signal && { signal }),
    };
    const answer = await this.#task.ask(this.#named(name), spec);
    return JSON.stringify(answer);
  }

  async #withdraw(node: Extract<Node, { op: 'withdraw' }>, last: string): Promise<string> {
    const controller = new AbortController();
    if (node.early) controller.abort();
    const asked = this.#ask(node.name, 'answer', controller.signal);
    const value = await this.#run(node.body, last).finally(() => controller.abort());
    return node.awaits ? this.#learn(await asked) : value;
  }

  async #child(node: Extract<Node, { op: 'child' }>, last: string): Promise<string> {
    const input = { style: 'handle', main: node.program } as unknown as Json;
    const child = await this.#task.spawn(this.#named(node.name), 'program', input);
    if (node.late !== null) await this.#run(node.late, last);
    const result = await child.result();
    if (node.throws && result.status !== 'completed') {
      throw new ProgramError('of a child', { cause: result.status === 'failed' ? result.error : undefined });
    }
    return this.#learn(JSON.stringify(result));
  }

  #values(name: string): string {
    const { random, uuid, now } = this.#task;
    return `${random(name)} ${uuid(name)}${this.#shares ? ` ${now()}` : ''}`;
  }

  #learn(value: string, last = value): string {
    if (this.#shares) this.#story.push(value);
    return last;
  }

  /** A name that tells paths apart: where the order is the handle's, by all that was learned so far. */
  #named(name: string): string {
    return this.#style === 'handle' && /^[abc]$/.test(name) ? `${name}${this.#story.length % 2}` : name;
  }

  #occurrence(id: string): string {
    const n = (this.#occurrences.get(id) ?? 0) + 1;
    this.#occurrences.set(id, n);
    return `${id}.${n}`;
  }
}

function hash(text: string): number {
  let value = 7;
  for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) >>> 0;
  return value >>> 3;
}
