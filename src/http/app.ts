import { Hono } from 'hono';
import { requestId } from 'hono/request-id';
import type { Logger } from 'pino';
import type { Access } from '../access/access.ts';
import type { Agents } from '../engine/agents.ts';
import type { Conversations } from '../engine/conversations.ts';
import type { Questions } from '../engine/questions.ts';
import { asUnavailable } from '../engine/refusal.ts';
import type { Tasks } from '../engine/tasks.ts';
import { HoldfastError } from '../model/error.ts';
import { accessOperations } from './access.ts';
import { accessLog } from './access-log.ts';
import { agentOperations } from './agents.ts';
import { allowHosts } from './allowed-host.ts';
import { consoleOperations } from './console.ts';
import { conversationOperations } from './conversations.ts';
import { allowOrigins, refuseForeignPages } from './cross-site.ts';
import { docsOperations } from './docs.ts';
import { createGate } from './gate.ts';
import { healthOperations, type Readiness } from './health.ts';
import { limitGate } from './limited-gate.ts';
import type { Limits } from './limits.ts';
import type { Metrics } from './metrics.ts';
import { openApiOperation } from './openapi.ts';
import { type HttpApp, type HttpEnv, mount, type Operation } from './operation.ts';
import { refuseOddTargets } from './plain-target.ts';
import { internalError, sendProblem } from './problem.ts';
import { questionOperations } from './questions.ts';
import { securityHeaders } from './security-headers.ts';
import { taskOperations } from './tasks.ts';

export interface AppDependencies {
  tasks: Tasks;
  questions: Questions;
  conversations: Conversations;
  agents: Agents;
  /** The streams, which have files of their own. */
  events?: readonly Operation[];
  access: Access;
  /** What the server is called beside the names of the machine itself; null takes any name. */
  hosts: readonly string[] | null;
  /** Whose pages may ask, beside its own. */
  origins: readonly string[];
  limits: Pick<Limits, 'held' | 'shedding' | 'requests'>;
  /** Whether requests can be served now: storage open, workers up, not stopping. */
  readiness: () => Promise<Readiness>;
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
    access,
    hosts,
    origins,
    limits,
    readiness,
    metrics,
    logger,
    version,
  } = dependencies;
  const operations = [
    ...agentOperations(agents),
    ...taskOperations(tasks, limits.held),
    ...questionOperations(questions),
    ...conversationOperations(conversations),
    ...events,
    ...accessOperations({ access, tasks, conversations }),
    ...healthOperations(readiness, metrics),
    ...docsOperations(),
    ...consoleOperations(),
  ];

  const app: HttpApp = new Hono<HttpEnv>();
  app.use(requestId());
  app.use(accessLog(logger, metrics));
  app.use(securityHeaders);
  if (origins.length > 0) app.use(allowOrigins(origins));
  app.use(refuseOddTargets);
  app.use(async (c, next) => {
    c.header('Cache-Control', 'no-store');
    await next();
  });
  if (hosts !== null) app.use(allowHosts(hosts));
  app.use(refuseForeignPages(origins));
  mount(app, [...operations, openApiOperation(operations, version)], limitGate(createGate(access), limits));
  app.notFound((c) => sendProblem(c, new HoldfastError('not_found', 'There is nothing at this path.')));
  app.onError((thrown, c) => {
    const error = asUnavailable(thrown) ?? thrown;
    if (error instanceof HoldfastError && error.code !== 'internal') return sendProblem(c, error);
    logger.error({ err: error, requestId: c.get('requestId') }, 'request failed');
    return sendProblem(c, internalError());
  });
  return app;
}
