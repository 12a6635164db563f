import { workerData } from 'node:worker_threads';
import { loadAgents } from './load-agents.ts';
import type { ThreadOptions } from './protocol.ts';
import { serve } from './serve.ts';

// The entry of a worker's thread. What fails here ends it with an error whose message says why.
const { agentModules, port }: ThreadOptions = workerData;
serve(port, await loadAgents(agentModules));
