/**
 * Where a test lets the process die, as `kill -9` would: `failpoint?.('claimed-not-started')` stands at each of these
 * places. In everything that is shipped it is null, and nothing can make it anything else: the tests run a copy of the code
 * in which test/chaos/failpoint-armed.ts is in the place of this module.
 */
export const failpoint: ((name: Failpoint) => void) | null = null;

export type Failpoint = keyof typeof FAILPOINTS;

/** All failpoints, along the data's path. Each stands in this file below `src` and nowhere else, once. */
export const FAILPOINTS = {
  /** The agent takes the input, and nothing is asked of the store. */
  'input-checked': 'engine/tasks.ts',
  /** Of tasks, before their outcome is made into an answer. */
  'task-created': 'engine/tasks.ts',
  'task-cancelled': 'engine/tasks.ts',
  'task-retried': 'engine/tasks.ts',
  /** The answer is on disk, and nobody has a 200. */
  'question-answered': 'engine/questions.ts',
  'question-declined': 'engine/questions.ts',

  /** The store is about to be asked; `followed`: for what wakes a warm copy, and its claim at once. */
  'commit-asked': 'engine/log.ts',
  'commit-followed': 'engine/log.ts',
  /** It is on disk, and nobody in this process knows. */
  'committed-not-published': 'engine/log.ts',
  /** Passed behind each listener: the hub, the dispatcher, the sweeper. */
  'published-to-one': 'engine/log.ts',

  /** Commits are about to leave for the writer's thread. */
  'commits-not-posted': 'store/sqlite/remote.ts',
  'reply-not-taken': 'store/sqlite/remote.ts',
  /** In the writer's thread: before BEGIN … */
  'before-begin': 'store/sqlite/writer.ts',
  'loaded-not-decided': 'store/sqlite/writer.ts',
  /** … before COMMIT, once for each commit of the group … */
  'written-not-committed': 'store/sqlite/writer.ts',
  /** … when all of it is synced, … */
  'committed-not-answered': 'store/sqlite/serve.ts',
  'answered-not-checkpointed': 'store/sqlite/serve.ts',
  /** … and around the move of the WAL into the database. */
  'checkpoint-due': 'store/sqlite/writer.ts',
  checkpointed: 'store/sqlite/writer.ts',

  /** Readers are about to be woken. */
  'readers-not-woken': 'engine/hub.ts',

  /** Queued tasks were found. */
  'claim-not-asked': 'engine/claims.ts',
  /** The claim is on disk, and no thread knows of it. */
  'claimed-not-started': 'engine/copies.ts',
  'claimed-not-adopted': 'engine/copies.ts',
  /** The copy that the claim was for has been dropped: the task has to be given back. */
  'claimed-but-parked': 'engine/dispatcher.ts',
  /** Reports have come, and are about to be written. */
  'reports-not-written': 'engine/dispatcher.ts',
  /** Reports are on disk, and the copy does not know. */
  'report-not-acknowledged': 'engine/copies.ts',
  /** The same, for those that start a child, that end a task, and that end a child: nor does its parent know. */
  'spawn-not-acknowledged': 'engine/copies.ts',
  'end-not-acknowledged': 'engine/copies.ts',
  'child-end-not-told': 'engine/copies.ts',
  /** The task waits, and its copy does not know. */
  'wait-not-told': 'engine/copies.ts',
  /** A key is resolved, and its copy does not know. */
  'resolution-not-told': 'engine/copies.ts',
  /** A warm copy is about to be dropped, and after it. */
  'copy-not-parked': 'engine/copies.ts',
  'copy-parked': 'engine/copies.ts',
  /** A worker is gone, and its tasks are still its own. */
  'lost-not-requeued': 'engine/dispatcher.ts',

  /** At the start: before what ran is queued again, behind each batch of it, … */
  'orphans-not-requeued': 'engine/orphans.ts',
  'some-orphans-requeued': 'engine/orphans.ts',
  /** … before the port opens, and before anything is claimed. */
  'requeued-not-listening': 'server.ts',
  'listening-not-claiming': 'server.ts',

  /** Something is due: a deadline, a sleep, a delayed task. */
  'due-not-fired': 'engine/sweeper.ts',
  'fired-not-armed': 'engine/sweeper.ts',
  'prune-not-asked': 'engine/sweeper.ts',

  /** In a worker: the start of a step is reported, and its function has not begun … */
  'step-started-not-run': 'worker/step-run.ts',
  /** … it has returned or thrown, and nothing is reported … */
  'step-run-not-settled': 'worker/step-run.ts',
  /** … and its failure is reported, and it is about to be tried again. */
  'step-not-retried': 'worker/step-run.ts',
  /** Nothing is left to do but to wait, and that is not reported. */
  'rest-not-reported': 'worker/copy.ts',
  /** A copy has a new claim, and has not gone on. */
  'adopted-not-gone-on': 'worker/copy.ts',
  /** The journal has been replayed, and what was held is not sent. */
  'replayed-not-live': 'worker/copy.ts',
  /** The agent's code is about to be given what it waits for. */
  'resolved-not-delivered': 'worker/deliveries.ts',
  'reports-not-posted': 'worker/outbox.ts',
  /** The agent's code has returned or thrown, and nothing is reported. */
  'end-not-reported': 'worker/copy.ts',

  /** At the stop: no task is taken any more, … */
  'drain-begun': 'server.ts',
  /** … what could come to rest has, and what could not is not given back, … */
  'drained-not-given-back': 'server.ts',
  /** … all is on disk, and the WAL is not moved. */
  'given-back-not-closed': 'server.ts',
  'closed-not-checkpointed': 'store/sqlite/writer.ts',
} as const;
