import { defineAgent } from '../../../src/worker/define-agent.ts';
import { type PerformanceInput, perform } from './perform.ts';

/** Plays the script that belongs to its input. */
export const scripted = defineAgent<PerformanceInput>({ name: 'scripted', run: perform });
