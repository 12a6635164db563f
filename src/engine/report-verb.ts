import type { VerbCall } from '../model/batch.ts';
import type { UnfinishedLimit } from '../model/limits.ts';
import type { NumberedReport } from './copy.ts';

/** The verb that a copy's report asks for. @param maxUnfinished see {@link UnfinishedLimit} */
export function verbOfReport(report: NumberedReport, maxUnfinished: UnfinishedLimit['maxUnfinished']): VerbCall {
  const { taskId, fence } = report;
  switch (report.kind) {
    case 'append': {
      const { after, events } = report;
      return { verb: 'appendEvents', args: { taskId, fence, after, events } };
    }
    case 'startStep': {
      const { step, askedAt, once, messageId, tool } = report;
      return { verb: 'startStep', args: { taskId, fence, step, askedAt, once, messageId, tool } };
    }
    case 'settleStep': {
      const { step, askedAt, once, ms, outcome, message, tool } = report;
      return { verb: 'settleStep', args: { taskId, fence, step, askedAt, once, ms, outcome, message, tool } };
    }
    case 'ask': {
      const { questionId, key, askedAt, items, metadata, timeoutMs } = report;
      const question = { questionId, key, askedAt, items, metadata, timeoutMs };
      return { verb: 'askQuestion', args: { taskId, fence, ...question, maxUnfinished } };
    }
    case 'sleep': {
      const { key, askedAt, ms } = report;
      return { verb: 'startTimer', args: { taskId, fence, key, askedAt, ms } };
    }
    case 'inbox':
      return { verb: 'takeInbox', args: { taskId, fence, key: report.key, askedAt: report.askedAt } };
    case 'history':
      return { verb: 'readHistory', args: { taskId, fence, key: report.key, askedAt: report.askedAt } };
    case 'spawn': {
      const { key, askedAt, childId, agent, input } = report;
      return { verb: 'spawnTask', args: { taskId, fence, key, askedAt, childId, agent, input } };
    }
    case 'withdraw':
      return { verb: 'withdrawQuestion', args: { taskId, fence, key: report.key, askedAt: report.askedAt } };
    case 'wait':
      return { verb: 'waitTask', args: { taskId, fence, ord: report.ord, keys: report.keys } };
    case 'end': {
      const { ending } = report;
      if (ending.status === 'completed') return { verb: 'finishTask', args: { taskId, fence, output: ending.output } };
      const { error, cut } = ending;
      return { verb: 'failTask', args: { taskId, fence, error, cut, when: 'now', jitter: Math.random() } };
    }
  }
}
