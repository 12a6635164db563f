/** How long a loop may keep the page to itself. */
const BUSY_MS = 30;

/**
 * Lets the page do other things now and then, for loops over what may have come already, however much that is.
 *
 * @returns what a loop awaits each time round
 */
export function createBreath(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < BUSY_MS) return undefined;
    return new Promise((resolve) => {
      setTimeout(() => {
        since = performance.now();
        resolve();
      });
    });
  };
}
