import { SUSPECT_CRASHES } from '../offered.ts';

const OFFERED = `status = 'queued' and not blocked and not held and run_at is null`;

/** What a claim may take, as conditions on a task's row. Statements use them as they stand, and so find their indexes. */
export const CLAIMABLE = `${OFFERED} and crashes < ${SUSPECT_CRASHES}`;
export const SUSPECT = `${OFFERED} and crashes >= ${SUSPECT_CRASHES}`;
export const SUSPECT_RUNNING = `status = 'running' and crashes >= ${SUSPECT_CRASHES}`;
