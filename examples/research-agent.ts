import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createAssistant, defineTool } from 'holdfast';
import { z } from 'zod';

const SHELF = [
  {
    title: 'On tides',
    text: 'The moon pulls the sea into two bulges; the earth turns below them, so there are two tides a day.',
  },
  {
    title: 'On harbours',
    text: 'A deep harbour needs no dredging. Shallow ones are open for two hours around high tide.',
  },
  { title: 'On knots', text: 'The bowline holds fast under load, and comes loose easily afterwards.' },
];

const searchShelf = defineTool({
  name: 'search_shelf',
  description: 'Finds what the shelf has on some words.',
  input: z.object({ words: z.string().min(1).max(500) }),
  run({ words }) {
    const wanted = words.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
    const found = SHELF.filter(({ text }) => wanted.some((word) => text.toLowerCase().includes(word)));
    return found.length > 0 ? found.map(({ title, text }) => `${title}: ${text}`).join('\n') : 'Nothing on that.';
  },
});

const saveReport = defineTool({
  name: 'save_report',
  description: 'Saves a report in the folder "reports", for everybody to read.',
  input: z.object({ report: z.string().min(1).max(20_000) }),
  // What leaves the house is read by somebody first: the report stands in the question.
  needsApproval: true,
  // The key is the same if this call is made again, and so the file is: there is never a second report.
  async run({ report }, { idempotencyKey, signal }) {
    const file = path.join('reports', `${idempotencyKey.replaceAll(/\W/g, '-')}.md`);
    await mkdir('reports', { recursive: true });
    await writeFile(file, report, { signal });
    return `Saved as ${file}.`;
  },
});

/**
 * Looks things up, and saves a report once somebody has agreed to it. Run it: `npm start -- --agents
 * examples/research-agent.ts`, and `POST /v1/tasks {"agent": "researcher", "input": {"message": "How do tides work?"}}`.
 */
export const researcher = createAssistant({
  name: 'researcher',
  description: 'Looks things up on a shelf, and saves a report once you agree to it.',
  system: 'You answer from the shelf alone. Search it first, then save a short report of what you have found.',
  tools: [searchShelf, saveReport],
});
