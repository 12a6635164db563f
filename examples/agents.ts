import { defineAgent } from 'holdfast';
import { z } from 'zod';

interface Quote {
  carrier: string;
  euros: number;
}

/** Gets quotes for a parcel, lets a person choose, and books. Run it: `holdfast serve --agents examples/agents.ts` */
export const parcel = defineAgent({
  name: 'parcel',
  description: 'Sends a parcel with the carrier of your choice.',
  input: z.object({ to: z.string().min(1), grams: z.int().positive() }),
  async run(task, { to, grams }) {
    const quotes = await task.step('quotes', ({ signal }) => fetchQuotes(grams, signal), { retry: { attempts: 3 } });
    await task.say('offer', `I have ${quotes.length} offers to ${to}.`);

    const reply = await task.ask('carrier', {
      items: [
        {
          id: 'carrier',
          prompt: 'Who shall carry it?',
          options: quotes.map(({ carrier, euros }) => ({ value: carrier, label: carrier, description: `€${euros}` })),
        },
      ],
      timeoutMs: 60 * 60_000,
    });
    if (reply.status !== 'answered') return { sent: false, because: reply.status };

    // Comes again after a crash if it was cut off: the key lets the carrier tell.
    const label = await task.step('book', ({ idempotencyKey }) => `label-${idempotencyKey.slice(0, 8)}`);
    return { sent: true, carrier: reply.answers.carrier, label };
  },
});

async function fetchQuotes(grams: number, signal: AbortSignal): Promise<Quote[]> {
  signal.throwIfAborted(); // a real one would pass it to fetch
  return ['Snail', 'Swallow'].map((carrier, index) => ({ carrier, euros: Math.ceil(grams / 500) * (4 + 3 * index) }));
}
