import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent } from 'holdfast';

/** An agent for pictures: it takes steps, one of which fails at first, waits, and reports. */
export const report = defineAgent({
  name: 'nightly-report',
  description: 'Counts the orders of the day, charges the cards and writes a report.',
  async run(task) {
    let charges = 0;
    await task.progress(0.1, 'counting orders');
    await task.step('count-orders', () => delay(700, { orders: 128 }));
    await task.step('charge-cards', () => charge(++charges), { retry: { attempts: 4, baseMs: 300 } });
    await task.progress(0.5, 'looking up rates');
    await Promise.all([
      task.step('rates', () => delay(600, { EUR: 1, USD: 1.09 }), tool('exchange_rates', { base: 'EUR' })),
      task.step('stock', () => delay(350, { lamps: 41 }), tool('stock_level', { article: 'lamp' })),
    ]);
    await task.sleep('cool-down', 2500);
    await task.emit('report.drafted', { pages: 3 });
    await task.say('summary', 'The report covers 128 orders, of which two were charged anew.');
    await task.step('publish', () => delay(400, 'https://reports.example/2026-12-01'));
    return { report: 'https://reports.example/2026-12-01', orders: 128 };
  },
});

/** Fails, and says why. */
export const exporter = defineAgent({
  name: 'invoice-export',
  description: 'Exports the invoices of a year.',
  async run(task) {
    await task.step('open-ledger', () => delay(150, 'open'));
    throw new Error('The ledger of 2025 is locked by another export.');
  },
});

/** Asks several things at once. */
export const offsite = defineAgent({
  name: 'offsite-planner',
  description: 'Plans a day out for a team.',
  async run(task) {
    return task.ask('wishes', {
      timeoutMs: 2 * 60 * 60_000,
      items: [
        {
          id: 'place',
          header: 'Place',
          prompt: 'Where shall it be?',
          options: [
            { value: 'harbour', label: 'The harbour', description: 'A boat for twenty, and fish after' },
            { value: 'hills', label: 'The hills', description: 'A walk of three hours, and a hut' },
          ],
          default: 'harbour',
          allowOther: true,
        },
        {
          id: 'extras',
          header: 'Extras',
          prompt: 'What would you like with it?',
          options: ['Breakfast', 'A guide', 'A bus home'],
          multiple: true,
          required: false,
        },
        { id: 'people', header: 'People', prompt: 'How many come along?', type: 'number', minimum: 1, integer: true },
      ],
    });
  },
});

async function charge(attempt: number): Promise<string> {
  await delay(300);
  if (attempt < 3) throw Object.assign(new Error('503 of the payment provider'), { status: 503 });
  return 'charged';
}

function tool(name: string, input: { [key: string]: string }) {
  return { tool: { toolCallId: `call_${name}`, name, input } };
}
