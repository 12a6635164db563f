import { parentPort, workerData } from 'node:worker_threads';
import { boundOutput } from './bounded-output.ts';
import { showRunner } from './culprit.ts';
import { loadAgents } from './load-agents.ts';
import { keepOwnGlobals } from './own-globals.ts';
import type { ThreadOptions } from './protocol.ts';
import { serve } from './serve.ts';
import { reportFaults } from './thread-faults.ts';
import { createMemoryGauge } from './thread-memory.ts';

// The entry of a worker's thread. What fails before it serves ends it with an error whose message says why.
const { agentModules, port, runner, memoryBytes }: ThreadOptions = workerData;
// Nobody listens to what is sent there, but to drop it would cost the main thread time.
parentPort?.close();
keepOwnGlobals();
boundOutput(process.stdout);
boundOutput(process.stderr);
showRunner(runner);
const agents = await loadAgents(agentModules);
reportFaults((report) => port.postMessage([report]));
serve(port, agents, undefined, createMemoryGauge(memoryBytes));
