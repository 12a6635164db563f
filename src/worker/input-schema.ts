import type { StandardSchemaV1 } from '@standard-schema/spec';
import { z } from 'zod';
import type { Issue } from '../model/error.ts';
import type { Json } from '../model/json.ts';
import type { Agent } from './define-agent.ts';
import { errorMessage } from './error-message.ts';

const MAX_ISSUES = 50;
const MAX_ISSUE_LENGTH = 1000;

/** A parsed input, or what is wrong with it. */
export type ParsedInput = { ok: true; value: unknown } | { ok: false; issues: Issue[] };

/** Parses an input by the agent's schema, which may be asynchronous. A schema that throws has refused the input. */
export async function parseInput(agent: Agent, input: Json): Promise<ParsedInput> {
  if (agent.input === undefined) return { ok: true, value: input };
  try {
    const result = await agent.input['~standard'].validate(input);
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, issues: result.issues.slice(0, MAX_ISSUES).map(toIssue) };
  } catch (error) {
    return { ok: false, issues: [{ path: '', message: `The schema failed: ${errorMessage(error)}` }] };
  }
}

/** JSON Schema of what the agent takes; null where it has no schema, or one that JSON Schema cannot express. */
export function inputJsonSchema({ input }: Agent): Json {
  if (!(input instanceof z.core.$ZodType)) return null;
  try {
    return JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input' })));
  } catch {
    return null;
  }
}

function toIssue({ path = [], message }: StandardSchemaV1.Issue): Issue {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  const pointer = keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  // A schema is the author's: what it gives may be of any kind and any size.
  return { path: pointer.slice(0, MAX_ISSUE_LENGTH), message: String(message).slice(0, MAX_ISSUE_LENGTH) };
}
