import type { Rule } from './rule.ts';

export const orderlyLives: Rule = {
  name: 'the server ends only when it is told to, and with 0 when it is asked to',
  *judge({ lives }) {
    for (const [index, life] of lives.entries()) {
      const { endedBy, mayEndItself, code, signal } = life;
      if (endedBy === 'itself' && !mayEndItself) {
        yield { text: `Life ${index + 1} ended by itself with ${code ?? signal}.`, evidence: life };
      }
      if (endedBy === 'stop' && code !== 0) {
        yield { text: `Life ${index + 1} was asked to end, and ended with ${code ?? signal}.`, evidence: life };
      }
    }
  },
};
