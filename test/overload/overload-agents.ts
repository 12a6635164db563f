import { defineAgent } from '../../src/worker/define-agent.ts';

/** As little work as there can be. */
export const nothing = defineAgent({ name: 'nothing', run: () => null });

/** Done once somebody has answered. */
export const asker = defineAgent({
  name: 'asker',
  run: (task) => task.ask('go', { items: [{ id: 'go', prompt: 'Go on?', type: 'boolean' }], timeoutMs: null }),
});
