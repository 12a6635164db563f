import type { Rule } from './rule.ts';

/** What an operator is told that a stop takes at most. */
const STOP_MS = 10_000;

export const orderlyLives: Rule = {
  name: 'the server ends only when it is told to, and with 0 and within ten seconds when it is asked to',
  *judge({ lives }) {
    for (const [index, life] of lives.entries()) {
      const { endedBy, mayEndItself, code, signal, toldToEndAt, endedAt } = life;
      const tookMs = toldToEndAt === null || endedAt === null ? 0 : endedAt - toldToEndAt;
      if (endedBy === 'itself' && !mayEndItself) {
        yield { text: `Life ${index + 1} ended by itself with ${code ?? signal}.`, evidence: life };
      }
      if (endedBy === 'stop' && code !== 0) {
        yield { text: `Life ${index + 1} was asked to end, and ended with ${code ?? signal}.`, evidence: life };
      }
      if (endedBy === 'stop' && tookMs > STOP_MS) {
        yield { text: `Life ${index + 1} took ${tookMs} ms to end.`, evidence: life };
      }
    }
  },
};
