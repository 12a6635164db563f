import { World } from './world.ts';
import type { WorldOptions } from './world-options.ts';

/** Runs a test in a world, and leaves nothing of it behind. */
export async function inWorld<T>(options: WorldOptions, test: (world: World) => Promise<T>): Promise<T> {
  const world = new World(options);
  try {
    return await test(world);
  } finally {
    await world.close();
  }
}
