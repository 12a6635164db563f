import type { z } from 'zod';
import type { Json } from '../model/json.ts';
import { askUserQuestions } from './ask-user-questions.ts';
import { cutText } from './cut-text.ts';
import type { DemoConversation, ToolResult } from './demo-prompt.ts';
import { flightsSchema, searchFlights, weatherReport, weatherSchema } from './demo-tools.ts';
import { sampleOf } from './schema-sample.ts';

/** What the demonstration's model does next: it says something, and may call tools. */
export interface DemoMove {
  text: string;
  calls: { name: string; input: Json }[];
}

/** A tool as the prompt offers it. */
export interface OfferedTool {
  name: string;
  inputSchema: Parameters<typeof sampleOf>[0];
}

const DEMO_NOTE =
  '(I am the demo model that comes with Holdfast, and all of this is made up. For a real one, set HOLDFAST_MODEL_URL, ' +
  'HOLDFAST_MODEL and HOLDFAST_MODEL_KEY, and start the server again.)';

const DEFAULT_CITY = 'Lisbon';
const MONTHS =
  /^(January|February|March|April|May|June|July|August|September|October|November|December|Spring|Summer|Autumn|Winter)$/;
const CITY = /\b(?:to|in|for|of|visit|see|that|rather|take)\s+(\p{Lu}[\p{L}'-]+(?:\s\p{Lu}[\p{L}'-]+)*)/gu;
/** How many of the tools that it knows nothing of it tries. */
const MAX_UNKNOWN_TOOLS = 2;
const MAX_QUOTE_LENGTH = 300;

type Flight = z.infer<typeof flightsSchema>['flights'][number];

/** Decides by nothing but what it is shown: the same prompt brings the same move. */
export function nextMove(conversation: DemoConversation, offered: readonly OfferedTool[]): DemoMove {
  const { before, asked, results } = conversation;
  const known = cityIn(before) ?? (before.length > 0 ? DEFAULT_CITY : null);
  const city = cityIn(asked) ?? known ?? DEFAULT_CITY;
  if (city === known) return { text: `${followUp(city, conversation)}\n\n${DEMO_NOTE}`, calls: [] };

  const isOffered = ({ name }: { name: string }) => offered.some((tool) => tool.name === name);
  const isDue = (tool: { name: string }) => isOffered(tool) && results.every(({ name }) => name !== tool.name);
  const searches = [searchFlights, weatherReport].filter(isOffered);
  const others = searches.length > 0 ? [] : offered.filter(isUnknown).slice(0, MAX_UNKNOWN_TOOLS);

  const searchesDue = searches.filter(isDue);
  if (searchesDue.length > 0) {
    const calls = searchesDue.map(({ name }) => ({ name, input: { city } }));
    const wish = known === null ? `A weekend in ${city}!` : `So ${city} instead of ${known}!`;
    return { text: `${wish} Let me look at flights and at the weather.`, calls };
  }
  const other = others.find(isDue);
  if (other !== undefined) {
    const text = cutText(results.at(-1)?.text ?? asked.join('\n'), MAX_QUOTE_LENGTH);
    return {
      text: `Let me use ${other.name}.`,
      calls: [{ name: other.name, input: sampleOf(other.inputSchema, text) }],
    };
  }
  if (isDue(askUserQuestions)) {
    const input = { questions: [question(city, results)] };
    return { text: 'One thing only you can tell me.', calls: [{ name: askUserQuestions.name, input }] };
  }
  const answer = others.length > 0 ? summary(conversation) : tripPlan(city, conversation);
  return { text: `${answer}\n\n${DEMO_NOTE}`, calls: [] };
}

/** What is neither of the demonstration nor reaches outside by itself. */
function isUnknown({ name }: OfferedTool): boolean {
  return name !== askUserQuestions.name && name !== 'fetch_page' && !name.includes('__');
}

function question(city: string, results: ToolResult[]): Json {
  const options = flightsOf(results).map(({ month, departure, euros }) => {
    const weather = weatherIn(month, results);
    return { label: month, description: `${departure}, from €${euros}${weather === null ? '' : `; ${weather}`}` };
  });
  return { header: 'Month', prompt: `When would you like to go to ${city}?`, ...(options.length > 0 && { options }) };
}

function tripPlan(city: string, { asked, results }: DemoConversation): string {
  const flights = flightsOf(results);
  const parts = [
    opening(city, flights, results),
    ...results.flatMap(({ name, text, isError }) => (isError ? `(${name} did not work: ${quoted(text)})` : [])),
    'On Saturday you begin in the market hall, and go on uphill to the old town and its view over the roofs. Sunday is ' +
      'for a slow breakfast and for the river, before you fly home.',
    asked.length > 1 ? `And what you added meanwhile is in it: ${quoted(asked.slice(1).join(' '))}` : [],
  ];
  return parts.flat().join('\n\n');
}

/** What became of the question decides how the plan begins. */
function opening(city: string, flights: Flight[], results: ToolResult[]): string {
  const reply = results.find(({ name }) => name === askUserQuestions.name)?.text ?? null;
  if (reply === null) return `Here is a weekend in ${city}, at a time that suits you.`;
  const answer = answerIn(reply);
  if (answer !== null) {
    const flight = flights.find(({ month }) => month === answer);
    if (flight === undefined) return `You told me ${quoted(answer)}, so this is how I see your weekend in ${city}.`;
    const weather = weatherIn(flight.month, results);
    return `Here is your weekend in ${city}. In ${flight.month} you leave on ${flight.departure}, for €${flight.euros}${weather === null ? '' : `, and it will be ${weather}`}.`;
  }
  if (reply.includes('declined')) {
    const reason = /Their reason: (".*")\./.exec(reply)?.[1];
    const why = reason === undefined ? '' : ` (${reason}, you said)`;
    return `You would rather not choose a month${why}, so I leave it open. ${listed(city, flights)}`;
  }
  return `I have not heard from you, so I chose nothing for you and booked nothing. ${listed(city, flights)}`;
}

function listed(city: string, flights: Flight[]): string {
  if (flights.length === 0) return `This is what a weekend in ${city} can be.`;
  const choices = flights.map(({ month, euros }) => `${month} for €${euros}`);
  return `For ${city} there would be ${choices.join(', ')}.`;
}

/** Where it was given tools that it knows nothing of: what they returned, and what the user said. */
function summary({ asked, results }: DemoConversation): string {
  const lines = results.map(({ name, text, isError }) => `- ${name}${isError ? ' did not work' : ''}: ${quoted(text)}`);
  return `You asked: ${quoted(asked.join(' '))} This is what came of it.\n\n${lines.join('\n')}`;
}

function followUp(city: string, { before, asked, earlierResults }: DemoConversation): string {
  const reply = earlierResults.findLast(({ name }) => name === askUserQuestions.name)?.text;
  const answer = reply === undefined ? null : answerIn(reply);
  const choice = answer === null ? '' : `, for which you told me ${quoted(answer)}`;
  const was = choice === '' ? 'and it was about' : 'and I planned';
  const memory = `Before, you wrote ${quoted(before.at(-1) ?? '')}, ${was} a weekend in ${city}${choice}.`;
  const now = asked.join(' ');
  return `${memory} Now you write ${quoted(now)}. ${advice(now, city)}`;
}

function advice(text: string, city: string): string {
  if (/hotel|stay|sleep|room/i.test(text))
    return `In ${city} I would stay near the market hall: all of the plan is on foot.`;
  if (/cheap|price|cost|budget|money|€|euro/i.test(text)) return 'September is the cheapest, with a flight for €76.';
  if (/weather|rain|sun|pack|warm|cold/i.test(text)) return 'Pack a light coat for May; June and September need none.';
  if (/thank|great|perfect|lovely/i.test(text)) return `You are welcome. Have a good time in ${city}!`;
  return `I take that into the plan for ${city}; everything else in it stays as it was.`;
}

function answerIn(reply: string): string | null {
  return /^Answer: (.*?)( \(their own words\))?$/m.exec(reply)?.[1] ?? null;
}

/** The city that was named last. */
function cityIn(texts: string[]): string | null {
  for (const text of texts.toReversed()) {
    const named = [...text.matchAll(CITY)].map(([, name = '']) => name).find((name) => !MONTHS.test(name));
    if (named !== undefined) return named;
  }
  return null;
}

function flightsOf(results: ToolResult[]): Flight[] {
  const parsed = flightsSchema.safeParse(jsonOf(searchFlights.name, results));
  return parsed.success ? parsed.data.flights : [];
}

function weatherIn(month: string, results: ToolResult[]): string | null {
  const parsed = weatherSchema.safeParse(jsonOf(weatherReport.name, results));
  const found = parsed.success ? parsed.data.months.find((each) => each.month === month) : undefined;
  return found === undefined ? null : `${found.celsius} °C and ${found.sky}`;
}

function jsonOf(tool: string, results: ToolResult[]): unknown {
  const result = results.find(({ name, isError }) => name === tool && !isError);
  try {
    return JSON.parse(result?.text ?? 'null');
  } catch {
    return null;
  }
}

function quoted(text: string): string {
  const short = cutText(text.trim(), MAX_QUOTE_LENGTH);
  return `“${short}${short.length < text.trim().length ? '…' : ''}”`;
}
