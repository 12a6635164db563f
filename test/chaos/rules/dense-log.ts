import { seqOf } from '../../support/api.ts';
import { isSignal } from '../../support/sse-reader.ts';
import type { Rule } from './rule.ts';

export const denseLog: Rule = {
  name: 'the log is dense, and an event seen once under a seq is the same for ever, byte for byte',
  *judge({ log, readings }) {
    for (const [index, event] of log.entries()) {
      if (event.seq !== index + 1 || seqOf(event.id) !== event.seq) {
        yield { text: `Seq ${event.seq}, as ${event.id}, stands at place ${index + 1}.`, evidence: event };
        // What comes behind it is out of place as well.
        break;
      }
    }
    for (const { reader, connections } of readings) {
      for (const block of connections.flatMap(({ blocks }) => blocks)) {
        if (isSignal({ ...block, retry: null, comments: [], at: 0 })) continue;
        const stored = log[seqOf(block.id) - 1];
        const isRetold = block.id?.split('.').length === 3;
        if (stored?.text === block.data && (isRetold || stored?.id === block.id)) continue;
        yield { text: `The reader "${reader}" was told otherwise at ${block.id}.`, evidence: { told: block, stored } };
      }
    }
  },
};
