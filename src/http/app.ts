import { Hono } from 'hono';
import { requestId } from 'hono/request-id';
import type { Logger } from 'pino';
import type { Agents } from '../engine/agents.ts';
import type { Conversations } from '../engine/conversations.ts';
import type { Questions } from '../engine/questions.ts';
import type { Tasks } from '../engine/tasks.ts';
import { HoldfastError } from '../model/error.ts';
import { accessLog } from './access-log.ts';
import { agentOperations } from './agents.ts';
import { consoleOperations } from './console.ts';
import { conversationOperations } from './conversations.ts';
import { docsOperations } from './docs.ts';
import { healthOperations, type Readiness } from './health.ts';
import type { Metrics } from './metrics.ts';
import { openApiOperation } from './openapi.ts';
import { type HttpApp, type HttpEnv, mount, type Operation, type OwnerOf } from './operation.ts';
import { internalError, sendProblem } from './problem.ts';
import { questionOperations } from './questions.ts';
import { taskOperations } from './tasks.ts';

export interface AppDependencies {
  tasks: Tasks;
  questions: Questions;
  conversations: Conversations;
  agents: Agents;
  /** The streams, which have files of their own. */
  events?: readonly Operation[];
  owner: OwnerOf;
  /** Whether requests can be served now: storage open, workers up, not stopping. */
  readiness: () => Readiness;
  metrics: Metrics;
  logger: Logger;
  /** Of the server, as the OpenAPI document names it. */
  version: string;
}

/** The whole HTTP interface. @see docs/protocol.md */
export function createApp(dependencies: AppDependencies): HttpApp {
  const {
    tasks,
    questions,
    conversations,
    agents,
    events = [],
    owner,
    readiness,
    metrics,
    logger,
    version,
  } = dependencies;
  const operations = [
    ...agentOperations(agents),
    ...taskOperations(tasks, owner),
    ...questionOperations(questions, owner),
    ...conversationOperations(conversations, owner),
    ...events,
    ...healthOperations(readiness, metrics),
    ...docsOperations(),
    ...consoleOperations(),
  ];

  const app: HttpApp = new Hono<HttpEnv>();
  app.use(requestId());
  app.use(accessLog(logger, metrics));
  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    await next();
  });
  mount(app, [...operations, openApiOperation(operations, version)]);
  app.notFound((c) => sendProblem(c, new HoldfastError('not_found', 'There is nothing at this path.')));
  app.onError((error, c) => {
    if (error instanceof HoldfastError && error.code !== 'internal') return sendProblem(c, error);
    logger.error({ err: error, requestId: c.get('requestId') }, 'request failed');
    return sendProblem(c, internalError());
  });
  return app;
}
