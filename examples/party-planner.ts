import { defineAgent } from 'holdfast';
import { z } from 'zod';

export default defineAgent({
  name: 'party-planner',
  description: 'Prices a party, and books it once somebody agrees.',
  input: z.object({ guests: z.array(z.string()).min(1) }),
  async run(task, { guests }) {
    const price = await task.step('price', () => guests.length * 12);
    await task.say('offer', `A party for ${guests.join(', ')} costs ${price} euros.`);
    const reply = await task.ask('consent', {
      items: [{ id: 'agreed', type: 'boolean', prompt: `Shall I spend ${price} euros?` }],
      timeoutMs: 60 * 60_000,
    });
    if (reply.status !== 'answered' || reply.answers.agreed !== true) return { booked: false };
    await task.emit('party.booked', { price });
    return { booked: true, price };
  },
});
