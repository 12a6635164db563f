/** Tasks that are known to belong to no conversation, which stays so: none needs to be looked for. By id. */
export interface Loners {
  has(taskId: string): boolean;
  add(taskId: string): void;
}

const MOST = 10_000;

export function createLoners(): Loners {
  const known = new Set<string>();
  return {
    has: (taskId) => known.has(taskId),
    add(taskId) {
      if (known.size >= MOST) known.clear();
      known.add(taskId);
    },
  };
}
