import type { MessagePort } from 'node:worker_threads';
import { Copy, type CopyCommand } from './copy.ts';
import { runAs } from './culprit.ts';
import type { Agent } from './define-agent.ts';
import { InputCheck } from './input-check.ts';
import { inputJsonSchema } from './input-schema.ts';
import { Outbox } from './outbox.ts';
import { own } from './own-globals.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';
import { packReports } from './report-message.ts';
import { runAgent } from './run-agent.ts';
import { BrokenThread } from './thread-faults.ts';
import { createMemoryGauge } from './thread-memory.ts';

/** A copy that is replayed and does nothing for so long is taken for another code's. */
const STUCK_AFTER_MS = 60_000;

/**
 * Runs copies of tasks as the commands of the port tell, any number at once, until `stop` closes the port.
 *
 * @param stuckAfterMs see {@link CopyOptions}
 */
export function serve(
  port: MessagePort,
  agents: ReadonlyMap<string, Agent>,
  stuckAfterMs = STUCK_AFTER_MS,
  measureMemory = createMemoryGauge(Number.POSITIVE_INFINITY),
): void {
  const copies = new Map<string, Copy>();
  const post = (batch: Report[]) => port.postMessage(packReports(batch));
  const outbox = new Outbox(post);

  function start(command: Extract<Command, { kind: 'start' }>): void {
    const { taskId } = command;
    copies.get(taskId)?.drop('lost');
    const copy: Copy = new Copy(command, {
      outbox,
      stuckAfterMs,
      onGone: () => forget(copy),
      onReleased: () => post([{ kind: 'released', taskId, fence: copy.fence }]),
    });
    copies.set(taskId, copy);
    const onThrown = (stack: string) => post([{ kind: 'thrown', taskId, agent: command.agent, stack }]);
    void runAs(copy, () => runAgent(copy, agents.get(command.agent), command, onThrown));
  }

  function forget(copy: Copy): void {
    if (copies.get(copy.taskId) === copy) copies.delete(copy.taskId);
  }

  function pass(command: CopyCommand): void {
    const copy = copies.get(command.taskId);
    if (copy !== undefined && (command.kind === 'adopt' || command.fence === copy.fence)) {
      runAs(copy, () => copy.handle(command));
    } else if (command.kind === 'drop') {
      post([{ kind: 'released', taskId: command.taskId, fence: command.fence }]);
    }
  }

  async function validate({ id, agent, input }: Extract<Command, { kind: 'validate' }>): Promise<void> {
    const found = agents.get(agent);
    const unknown = [{ path: '/agent', message: `No agent is named "${agent}".` }];
    post([
      { kind: 'validated', id, issues: found === undefined ? unknown : await new InputCheck(found).issues(input) },
    ]);
  }

  function handle(command: Command): void {
    switch (command.kind) {
      case 'start':
        start(command);
        break;
      case 'validate':
        void validate(command);
        break;
      case 'ping':
        post([{ kind: 'pong', id: command.id, ...measureMemory(own.performance.now()) }]);
        break;
      case 'stop':
        for (const copy of copies.values()) copy.drop('lost');
        port.close();
        break;
      default:
        pass(command);
    }
  }

  port.on('message', (commands: Command[]) => {
    try {
      for (const command of commands) handle(command);
    } catch (cause) {
      throw new BrokenThread(cause);
    }
  });
  post([{ kind: 'ready', agents: [...agents.values()].map(summarize) }]);
}

function summarize(agent: Agent): AgentSummary {
  const { name, description, version } = agent;
  return { name, description, version, inputSchema: inputJsonSchema(agent) };
}
