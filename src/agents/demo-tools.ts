import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';

/** Long enough to be seen in a page. */
const LOOKING_MS = 400;

const input = z.object({ city: z.string().min(1).max(100).describe('Where the journey goes') });

export const flightsSchema = z.object({
  flights: z.array(z.object({ month: z.string(), departure: z.string(), euros: z.number() })),
});
export const weatherSchema = z.object({
  months: z.array(z.object({ month: z.string(), celsius: z.number(), sky: z.string() })),
});

const FLIGHTS: z.infer<typeof flightsSchema> = {
  flights: [
    { month: 'May', departure: 'Friday at 18:05', euros: 89 },
    { month: 'June', departure: 'Friday at 19:40', euros: 124 },
    { month: 'September', departure: 'Saturday at 7:15', euros: 76 },
  ],
};

const WEATHER: z.infer<typeof weatherSchema> = {
  months: [
    { month: 'May', celsius: 21, sky: 'mild, with a shower now and then' },
    { month: 'June', celsius: 26, sky: 'sunny and dry' },
    { month: 'September', celsius: 24, sky: 'warm, with soft evenings' },
  ],
};

export const searchFlights = defineTool({
  name: 'search_flights',
  description: 'Finds a flight for a weekend in a city, one for each month. A demonstration: the flights are made up.',
  input,
  async run(_input, { signal }) {
    await delay(LOOKING_MS, undefined, { signal });
    return FLIGHTS;
  },
});

export const weatherReport = defineTool({
  name: 'weather_report',
  description: 'Tells what the weather is like in a city, month by month. A demonstration: the weather is made up.',
  input,
  async run(_input, { signal }) {
    await delay(LOOKING_MS, undefined, { signal });
    return WEATHER;
  },
});
