import { defineAgent } from '../../src/worker/define-agent.ts';

/** A turn, or a task: asks with every kind of item at once, and returns what came of it. */
export const clerk = defineAgent<{ message: string }>({
  name: 'clerk',
  async run(task) {
    const reply = await task.ask('form', {
      items: [
        {
          id: 'city',
          prompt: 'Which "city"?',
          options: ['Lisbon', { value: 'opo "1"', label: 'Porto', description: 'by the river' }],
        },
        { id: 'extras', prompt: 'What else?', options: ['breakfast', 'bicycle', 'boat'], multiple: true },
        { id: 'seat', prompt: 'Which seat?', options: ['aisle', 'window'], allowOther: true },
        { id: 'nights', prompt: 'How many nights?', type: 'number', minimum: 1 },
        { id: 'insured', prompt: 'An insurance?', type: 'boolean' },
        { id: 'notes', prompt: 'Any notes?', type: 'text', required: false },
        { id: 'name', prompt: 'Your \u001b[31mname?\nIn full.', type: 'text', minLength: 2 },
      ],
    });
    await task.say('outcome', `It was ${reply.status}.`);
    return reply;
  },
});

/** Begins, and never ends by itself. */
export const sleeper = defineAgent({
  name: 'sleeper',
  async run(task) {
    await task.progress(0.5, 'sleeping');
    await task.sleep('night', 60 * 60_000);
  },
});

/** Fails with what would clear a terminal. */
export const faulty = defineAgent({
  name: 'faulty',
  run() {
    throw new Error('It \u001b[2Jbroke \\ down.');
  },
});
