import { accept, refuse, type Verb } from '../verb.ts';

export interface PruneTaskArgs {
  /** A task without a parent; its children go with it. */
  rootId: string;
  /** Only if it ended at least this long ago. */
  retentionMs: number;
}

/** Deletes the events of a tree that ended long ago, and moves the marks that tell readers so. @see docs/protocol.md §5.3 */
export const pruneTask: Verb<PruneTaskArgs, null> = {
  needs: ({ rootId }) => ({ tasks: [rootId] }),
  decide(view, { rootId, retentionMs }, now) {
    const task = view.task(rootId);
    if (task === null || task.parentId !== null || task.finishedAt === null || task.prunedSeq >= task.lastSeq) {
      return refuse('not_due', `${rootId} has nothing to prune.`);
    }
    if (now - task.finishedAt < retentionMs) {
      return refuse('not_due', `${rootId} ended less than ${retentionMs} ms ago.`);
    }
    const pruned = { ...task, prunedSeq: task.lastSeq };
    return accept(null, { changes: { tasks: [pruned], prune: [{ rootId, upTo: task.lastSeq }] } });
  },
};
