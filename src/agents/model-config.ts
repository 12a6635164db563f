import { z } from 'zod';
import { ModelFailure } from './model-failure.ts';

/** How models are called, as the environment has it. @see docs/agents.md */
export interface ModelConfig {
  /** Where an OpenAI-compatible API begins, mostly ending in `/v1`; null for the demonstration, which needs none. */
  server: { url: string; model: string; key: string | null } | null;
  systemPrompt: string;
  /** How many calls of the model may ask for tools, before one that must answer. */
  maxSteps: number;
  /** How long the model's server may send nothing. */
  idleMs: number;
}

const DEFAULT_SYSTEM_PROMPT =
  'You are a helpful assistant. Use the tools where they help. Say plainly what you do not know, and what has failed.';
const DEFAULT_MAX_STEPS = 20;
const MAX_MAX_STEPS = 1000;
const DEFAULT_IDLE_MS = 60_000;
/** Then `fetch` gives up by itself. */
const MAX_IDLE_MS = 300_000;

/** An empty variable counts as absent. */
const optional = <T extends z.ZodType>(schema: T) => z.preprocess((text) => (text === '' ? undefined : text), schema);
const wholeNumber = (min: number, max: number, byDefault: number) =>
  optional(
    z.coerce
      .number(`must be a whole number from ${min} to ${max}`)
      .int(`must be a whole number from ${min} to ${max}`)
      .min(min, `must be ${min} at least`)
      .max(max, `must be ${max} at most`)
      .default(byDefault),
  );

const VARIABLES = z
  .object({
    HOLDFAST_MODEL_URL: optional(
      z
        .url({ protocol: /^https?$/, error: 'must be a URL such as https://api.example.com/v1' })
        .refine((url) => !hasUser(url), 'must have no user name and no password; a key goes into HOLDFAST_MODEL_KEY')
        .optional(),
    ),
    HOLDFAST_MODEL: optional(z.string().optional()),
    HOLDFAST_MODEL_KEY: optional(z.string().optional()),
    HOLDFAST_SYSTEM_PROMPT: optional(z.string().default(DEFAULT_SYSTEM_PROMPT)),
    HOLDFAST_MAX_STEPS: wholeNumber(1, MAX_MAX_STEPS, DEFAULT_MAX_STEPS),
    HOLDFAST_MODEL_IDLE_MS: wholeNumber(1, MAX_IDLE_MS, DEFAULT_IDLE_MS),
  })
  .refine((values) => values.HOLDFAST_MODEL_URL === undefined || values.HOLDFAST_MODEL !== undefined, {
    path: ['HOLDFAST_MODEL'],
    message: 'must name a model of the server at HOLDFAST_MODEL_URL',
  });

function hasUser(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

/**
 * Read when a model is called, in the thread that calls it: nothing else is given to threads.
 *
 * @param hasOwnModel what it says of a server is not looked at
 * @throws ModelFailure `model_misconfigured`, naming each variable that is no good
 */
// biome-ignore lint/style/noProcessEnv: a thread is given no configuration but its environment.
export function readModelConfig(env: NodeJS.ProcessEnv = process.env, hasOwnModel = false): ModelConfig {
  const read = VARIABLES.safeParse(hasOwnModel ? { ...env, HOLDFAST_MODEL_URL: '' } : env);
  if (!read.success) {
    const faults = read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    throw new ModelFailure('model_misconfigured', `${faults.join('; ')}.`, { status: 400 });
  }
  const { HOLDFAST_MODEL_URL: url, HOLDFAST_MODEL: model, HOLDFAST_MODEL_KEY: key, ...values } = read.data;
  return {
    server: url === undefined || model === undefined ? null : { url, model, key: key ?? null },
    systemPrompt: values.HOLDFAST_SYSTEM_PROMPT,
    maxSteps: values.HOLDFAST_MAX_STEPS,
    idleMs: values.HOLDFAST_MODEL_IDLE_MS,
  };
}
