import type { VerbCall } from '../model/batch.ts';
import type { CopyReport } from '../worker/protocol.ts';

/** The verb that a copy's report asks for. */
export function verbOfReport(report: { taskId: string; fence: number } & CopyReport): VerbCall {
  const { taskId, fence } = report;
  switch (report.kind) {
    case 'append':
      return { verb: 'appendEvents', args: { taskId, fence, events: report.events } };
    case 'startStep': {
      const { step, messageId, tool } = report;
      return { verb: 'startStep', args: { taskId, fence, step, messageId, tool } };
    }
    case 'settleStep': {
      const { step, ms, outcome, message, tool } = report;
      return { verb: 'settleStep', args: { taskId, fence, step, ms, outcome, message, tool } };
    }
    case 'ask': {
      const { questionId, key, items, metadata, timeoutMs } = report;
      return { verb: 'askQuestion', args: { taskId, fence, questionId, key, items, metadata, timeoutMs } };
    }
    case 'sleep':
      return { verb: 'startTimer', args: { taskId, fence, key: report.key, ms: report.ms } };
    case 'withdraw':
      return { verb: 'withdrawQuestion', args: { taskId, fence, key: report.key } };
    case 'wait':
      return { verb: 'waitTask', args: { taskId, fence, keys: report.keys } };
    case 'end':
      return report.ending.status === 'completed'
        ? { verb: 'finishTask', args: { taskId, fence, output: report.ending.output } }
        : { verb: 'failTask', args: { taskId, fence, error: report.ending.error, when: 'now' } };
  }
}
