import { isSameGroup, type TurnGroup } from './turn-groups.ts';

/** About so many turns are in a block: keys are random enough in their last character. */
const BOUNDARY = /[05xXaAmM]$/;

/**
 * Puts turns together that are drawn as one, so that a page of thousands of them looks at a few blocks. Where a block
 * begins is in the key of its first turn: what comes behind or in front leaves the others as they are.
 */
export function toBlocks(groups: readonly TurnGroup[]): TurnGroup[][] {
  const blocks: TurnGroup[][] = [];
  for (const group of groups) {
    const last = blocks.at(-1);
    if (last === undefined || BOUNDARY.test(group.key)) blocks.push([group]);
    else last.push(group);
  }
  return blocks;
}

export function isSameBlock(a: readonly TurnGroup[], b: readonly TurnGroup[]): boolean {
  return (
    a.length === b.length &&
    a.every((group, index) => {
      const other = b[index];
      return other !== undefined && isSameGroup(group, other);
    })
  );
}
