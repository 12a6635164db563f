import type { Json } from '../../src/model/json.ts';
import { type Dice, diceOf } from '../support/dice.ts';

/** A program for an agent, as JSON: it is the input of its task. */
export type Node =
  /** `fails`: so many runs of its function fail, over all attempts. */
  | { op: 'step'; name: string; fails: number; once: boolean; tells: number }
  | { op: 'emit'; id: string }
  | { op: 'progress'; id: string }
  | { op: 'ask'; name: string; reply: 'answer' | 'decline' | 'never' }
  /** A question that is withdrawn by its signal after the body, and whether before it is asked. */
  | { op: 'withdraw'; name: string; body: Node; early: boolean; awaits: boolean }
  | { op: 'sleep'; name: string; ms: number }
  /** `late`: something is done between the spawn and its result. */
  | { op: 'child'; name: string; program: Node; late: Node | null; throws: boolean }
  | { op: 'inbox' }
  | { op: 'values'; name: string }
  | { op: 'raw' }
  | { op: 'seq'; body: Node[] }
  | { op: 'all' | 'race' | 'allSettled' | 'any'; body: Node[] }
  | { op: 'loop'; times: number; body: Node }
  /** Which of two depends on the last value. */
  | { op: 'either'; body: [Node, Node] }
  | {
      op: 'try';
      body: Node;
      caught: Node;
      after: 'go on' | 'rethrow' | 'wrap' | 'wrap with cause';
      lastly: Node | null;
    }
  | { op: 'detached'; body: Node }
  | { op: 'throw'; id: string };

/**
 * What may stand in a program so that all of the guarantees hold. `handle`: it awaits nothing but its handle. `serial`:
 * also other things, one branch at a time. `parallel`: those in several branches, which then share no name, emit nothing
 * outside steps, and do not let such a thing pick the path.
 */
export type Style = 'handle' | 'serial' | 'parallel';

export interface Program {
  style: Style;
  main: Node;
  maxAttempts: number;
  /** How often it is tried again when it has failed. */
  retries: number;
  /** Messages that are sent to it while it runs. */
  messages: number;
}

const NAMES = ['a', 'b', 'c'];

export function drawProgram(seed: number): Program {
  const dice = diceOf(seed);
  const style = dice.pick(['handle', 'handle', 'handle', 'serial', 'parallel'] as const);
  const drawer = new Drawer(dice, style);
  return {
    style,
    main: drawer.seq(4 + dice.below(3), { depth: 3, branch: false }),
    maxAttempts: 1 + dice.below(3),
    retries: dice.below(3),
    messages: dice.below(4),
  };
}

interface Place {
  depth: number;
  /** Whether other branches may run beside it. */
  branch: boolean;
}

class Drawer {
  readonly #dice: Dice;
  readonly #style: Style;
  #last = 0;
  /** Whether something may still be pending beside the main path. */
  #isBeside = false;

  constructor(dice: Dice, style: Style) {
    this.#dice = dice;
    this.#style = style;
  }

  seq(length: number, place: Place): Node {
    return { op: 'seq', body: Array.from({ length }, () => this.#node(place)) };
  }

  #node(place: Place): Node {
    const kinds = [...this.#leaves(place), ...(place.depth > 0 ? this.#compounds() : [])];
    return this.#draw(this.#dice.pick(kinds), place);
  }

  #leaves({ branch }: Place): Node['op'][] {
    const beside = branch || this.#isBeside;
    const raw: Node['op'][] = this.#style === 'handle' ? [] : ['raw', 'raw', 'raw'];
    const ordered: Node['op'][] = this.#style === 'parallel' && beside ? [] : ['emit', 'emit', 'progress', 'inbox'];
    const bad: Node['op'][] = this.#dice.below(3) === 0 ? ['throw'] : [];
    return ['step', 'step', 'step', 'step', 'ask', 'sleep', 'values', ...ordered, ...raw, ...bad];
  }

  #compounds(): Node['op'][] {
    const beside: Node['op'][] = ['all', 'all', 'race', 'allSettled', 'any', 'withdraw'];
    const loose: Node['op'][] = this.#style === 'handle' ? ['detached'] : [];
    return ['seq', 'loop', 'either', 'try', 'try', 'child', ...(this.#style === 'serial' ? [] : beside), ...loose];
  }

  #draw(op: Node['op'], place: Place): Node {
    const dice = this.#dice;
    const inner = { ...place, depth: place.depth - 1 };
    const beside = { ...inner, branch: true };
    switch (op) {
      case 'step': {
        const once = dice.below(10) === 0;
        const fails = dice.pick([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 99]);
        return { op, name: once ? this.#own('o') : this.#name('s'), fails, once, tells: dice.pick([0, 0, 0, 1, 2]) };
      }
      case 'emit':
      case 'progress':
        return { op, id: this.#own('e') };
      case 'ask':
        return { op, name: this.#name('q'), reply: dice.pick(['answer', 'answer', 'answer', 'decline', 'never']) };
      case 'withdraw': {
        const body = this.#short(beside);
        this.#isBeside = true;
        return { op, name: this.#name('q'), body, early: dice.below(4) === 0, awaits: dice.below(3) > 0 };
      }
      case 'sleep':
        return { op, name: this.#name('z'), ms: dice.pick([0, 1, 5, 20, 60]) };
      case 'child': {
        const drawer = new Drawer(dice, 'handle');
        const program = drawer.seq(1 + dice.below(3), { depth: 1, branch: false });
        const late = this.#style !== 'serial' && dice.below(2) === 0 ? this.#short(beside) : null;
        return { op, name: this.#name('c'), program, late, throws: dice.below(3) === 0 };
      }
      case 'inbox':
      case 'raw':
        return { op };
      case 'values':
        return { op, name: this.#style === 'parallel' ? this.#own('v') : dice.pick(NAMES) };
      case 'seq':
        return this.seq(2 + dice.below(2), inner);
      case 'all':
      case 'allSettled':
      case 'race':
      case 'any': {
        const body = Array.from({ length: 2 + dice.below(2) }, () => this.#branch(beside));
        this.#isBeside = true;
        return { op, body };
      }
      case 'loop':
        return { op, times: 2 + dice.below(2), body: this.#short(inner) };
      case 'either':
        return { op, body: [this.#short(inner), this.#short(inner)] };
      case 'try':
        return {
          op,
          body: this.#short(inner),
          caught: this.#short(inner),
          after: dice.pick(['go on', 'go on', 'rethrow', 'rethrow', 'wrap', 'wrap with cause']),
          lastly: dice.below(3) === 0 ? this.#short(inner) : null,
        };
      case 'detached':
        return { op, body: this.#short(beside) };
      case 'throw':
        // After something else than the handle's, it would decide a race.
        return dice.below(3) === 0 && !(this.#style === 'parallel' && place.branch)
          ? { op, id: this.#own('x') }
          : { op: 'step', name: this.#name('s'), fails: 1, once: false, tells: 0 };
    }
  }

  #short(place: Place): Node {
    return this.#dice.below(2) === 0 ? this.#node({ ...place, depth: Math.min(place.depth, 1) }) : this.seq(2, place);
  }

  /** One that ends with something of the handle's, so that no raw await decides when. */
  #branch(place: Place): Node {
    if (this.#style !== 'parallel') return this.#short(place);
    const last: Node = {
      op: 'step',
      name: this.#own('s'),
      fails: this.#dice.pick([0, 0, 0, 1]),
      once: false,
      tells: 0,
    };
    return { op: 'seq', body: [this.#short(place), last] };
  }

  #name(letter: string): string {
    return this.#style === 'parallel' ? this.#own(letter) : this.#dice.pick(NAMES);
  }

  #own(letter: string): string {
    return `${letter}${++this.#last}`;
  }
}

/** A program in a form that can be read. */
export function printProgram(node: Node): string {
  switch (node.op) {
    case 'step': {
      const marks = `${node.once ? ' once' : ''}${node.fails > 0 ? ` fails ${node.fails}` : ''}`;
      return `S(${node.name}${marks}${node.tells > 0 ? ` tells ${node.tells}` : ''})`;
    }
    case 'emit':
      return `E(${node.id})`;
    case 'progress':
      return `P(${node.id})`;
    case 'ask':
      return `A(${node.name} ${node.reply})`;
    case 'withdraw':
      return `W(${node.name}${node.early ? ' early' : ''}${node.awaits ? ' awaits' : ''}: ${printProgram(node.body)})`;
    case 'sleep':
      return `Z(${node.name} ${node.ms})`;
    case 'child': {
      const late = node.late === null ? '' : `; meanwhile ${printProgram(node.late)}`;
      return `C(${node.name}: ${printProgram(node.program)}${late}${node.throws ? '; throws' : ''})`;
    }
    case 'values':
      return `V(${node.name})`;
    case 'inbox':
    case 'raw':
      return node.op;
    case 'seq':
      return `{ ${node.body.map(printProgram).join('; ')} }`;
    case 'loop':
      return `for ${node.times} ${printProgram(node.body)}`;
    case 'either':
      return `either ${printProgram(node.body[0])} or ${printProgram(node.body[1])}`;
    case 'try': {
      const lastly = node.lastly === null ? '' : ` finally ${printProgram(node.lastly)}`;
      return `try ${printProgram(node.body)} catch ${printProgram(node.caught)} ${node.after}${lastly}`;
    }
    case 'detached':
      return `loose ${printProgram(node.body)}`;
    case 'throw':
      return `throw ${node.id}`;
    default:
      return `${node.op}[${node.body.map(printProgram).join(' | ')}]`;
  }
}

export function programInput({ style, main }: Program): Json {
  return { style, main } as unknown as Json;
}
