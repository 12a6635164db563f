import type { MessagePort } from 'node:worker_threads';
import { Copy, type CopyCommand } from './copy.ts';
import type { Agent } from './define-agent.ts';
import { inputJsonSchema, parseInput } from './input-schema.ts';
import { Outbox } from './outbox.ts';
import type { AgentSummary, Command, Report } from './protocol.ts';
import { packReports } from './report-message.ts';
import { runAgent } from './run-agent.ts';

/** Runs copies of tasks as the commands of the port tell, any number at once, until `stop` closes the port. */
export function serve(port: MessagePort, agents: ReadonlyMap<string, Agent>): void {
  const copies = new Map<string, Copy>();
  const post = (batch: Report[]) => port.postMessage(packReports(batch));
  const outbox = new Outbox(post);

  function start(command: Extract<Command, { kind: 'start' }>): void {
    const { taskId, fence, originAt } = command;
    copies.get(taskId)?.drop('lost');
    const copy: Copy = new Copy({ taskId, fence, originAt, outbox, onGone: () => forget(copy) });
    copies.set(taskId, copy);
    void runAgent(copy, agents.get(command.agent), command, (stack) => {
      post([{ kind: 'thrown', taskId, agent: command.agent, stack }]);
    });
  }

  function forget(copy: Copy): void {
    if (copies.get(copy.taskId) === copy) copies.delete(copy.taskId);
  }

  function pass(command: CopyCommand): void {
    const copy = copies.get(command.taskId);
    if (copy !== undefined && (command.kind === 'adopt' || command.fence === copy.fence)) copy.handle(command);
  }

  async function validate({ id, agent, input }: Extract<Command, { kind: 'validate' }>): Promise<void> {
    const found = agents.get(agent);
    const parsed = found && (await parseInput(found, input));
    const unknown = [{ path: '/agent', message: `No agent is named "${agent}".` }];
    post([{ kind: 'validated', id, issues: parsed === undefined ? unknown : parsed.ok ? null : parsed.issues }]);
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
        post([{ kind: 'pong', id: command.id }]);
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
    for (const command of commands) handle(command);
  });
  post([{ kind: 'ready', agents: [...agents.values()].map(summarize) }]);
}

function summarize(agent: Agent): AgentSummary {
  const { name, description, version } = agent;
  return { name, description, version, inputSchema: inputJsonSchema(agent) };
}
