import { parentPort, workerData } from 'node:worker_threads';
import { loadAgents } from './load-agents.ts';
import type { ThreadOptions } from './protocol.ts';
import { serve } from './serve.ts';

// The entry of a worker's thread. What fails here ends it with an error whose message says why.
if (parentPort === null) throw new Error('This module is the entry of a thread.');
const { agentModules }: ThreadOptions = workerData;
serve(parentPort, await loadAgents(agentModules));
