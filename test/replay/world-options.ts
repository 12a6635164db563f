import type { QuestionRecord } from '../../src/model/question.ts';
import type { TestAgent } from './agent-side.ts';
import type { Fault, Move } from './moves.ts';
import type { Answer } from './outside.ts';
import type { World } from './world.ts';

export interface WorldOptions {
  seed: number;
  agents: { readonly [name: string]: TestAgent };
  workers?: number;
  /** How long a copy that waits is kept in memory. */
  warmMs?: number;
  faults?: readonly Fault[];
  /** Whether children's results are asked for at once, beside what the code does. Default true. */
  asksForResults?: boolean;
  /** What becomes of a question. By default each is answered. */
  person?(question: QuestionRecord): Answer;
  /** Which of the moves are allowed; there must be one, until there was a fault. */
  steer?(moves: Move[], world: World): Move[];
}
