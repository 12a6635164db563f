import type { Limits } from './limits.ts';
import type { Gate } from './operation.ts';
import { opensStream } from './request-limit.ts';

/** A gate with limits: what is too much now goes before anything is asked, what an owner has too much of behind it. */
export function limitGate(gate: Gate, { shedding, requests }: Pick<Limits, 'shedding' | 'requests'>): Gate {
  return {
    async admit(c, operation) {
      if (operation.newWork) await shedding.admitWork();
      if (opensStream(c, operation)) shedding.refuseStream();
      await gate.admit(c, operation);
      await requests.admit(c, operation);
    },
    admitAgain: gate.admitAgain,
  };
}
