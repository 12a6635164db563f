import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Reply } from '../model/agent.ts';
import { defineAgent } from '../worker/define-agent.ts';

type Flight = { month: string; label: string; departure: string; euros: number };

const FLIGHTS: Flight[] = [
  { month: 'may', label: 'May', departure: 'Friday at 18:05', euros: 89 },
  { month: 'june', label: 'June', departure: 'Friday at 19:40', euros: 124 },
  { month: 'september', label: 'September', departure: 'Saturday at 7:15', euros: 76 },
];

/** A demonstration that needs no key: it streams, searches, asks twice, and uses what it was answered. */
export const tripPlanner = defineAgent({
  name: 'trip-planner',
  description: 'Plans a weekend away, and asks you when and what for. Everything in it is made up.',
  input: z.object({ city: z.string().min(1).max(100).default('Lisbon') }),
  async run(task, { city }) {
    await task.progress(0.1, 'getting started');
    await task.say('greeting', ({ signal }) =>
      typing(`A weekend in ${city}! Let me see what is flying. After that I have two questions for you.`, signal),
    );

    await task.progress(0.3, 'comparing flights');
    const flights = await task.step('flights', ({ signal }) => searchFlights(signal));
    await task.emit('trip.flights-found', { city, flights });

    await task.progress(0.5, 'asking when');
    const when = await task.ask('month', { items: [monthItem(city, flights)] });
    if (when.status !== 'answered') {
      await task.say('goodbye', ({ signal }) => typing(farewell(city, when), signal));
      return { planned: false, city, because: when.status };
    }
    const flight = flights.find(({ month }) => month === when.answers.month) ?? null;

    await task.progress(0.7, 'asking what for');
    const wish = await task.ask('wish', {
      items: [{ id: 'wish', header: 'Wish', prompt: 'What must the weekend not be without?', maxLength: 200 }],
    });

    await task.progress(0.8, 'writing the plan');
    await task.say('plan', ({ signal }) => typing(plan(city, flight, wish), signal));
    await task.progress(1, 'done');
    return { planned: true, city, month: flight?.month ?? null, euros: flight?.euros ?? null };
  },
});

async function searchFlights(signal: AbortSignal): Promise<Flight[]> {
  await delay(900, undefined, { signal });
  return FLIGHTS;
}

function monthItem(city: string, flights: Flight[]) {
  return {
    id: 'month',
    header: 'Month',
    prompt: `When would you like to go to ${city}?`,
    options: flights.map(({ month, label, departure, euros }) => ({
      value: month,
      label,
      description: `${departure}, from €${euros}`,
    })),
  };
}

function farewell(city: string, reply: Reply): string {
  return reply.status === 'declined'
    ? `No trouble at all: ${city} will still be there when you feel like it.`
    : `I have not heard from you, so I leave it at that. Ask me again whenever ${city} suits you.`;
}

function plan(city: string, flight: Flight | null, wish: Reply): string {
  const journey =
    flight === null
      ? 'You travel when you like'
      : `In ${flight.label} you leave on ${flight.departure}, for €${flight.euros}`;
  const sunday =
    wish.status === 'answered'
      ? `Sunday belongs to what you asked for: ${wish.answers.wish}.`
      : 'You gave me no wish for Sunday, so it stays free: that is often the best part.';
  return `Here is your weekend in ${city}. ${journey}. Saturday begins in the market hall, and goes on uphill to the old town and its view over the roofs. ${sunday} Have a good trip!`;
}

/** Yields the text word by word, as a model would. */
async function* typing(text: string, signal: AbortSignal): AsyncGenerator<string> {
  for (const word of text.split(/(?<= )/)) {
    await delay(30, undefined, { signal });
    yield word;
  }
}
