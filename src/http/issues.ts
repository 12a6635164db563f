import type { z } from 'zod';
import { HoldfastError, type Issue } from '../model/error.ts';

const MAX_ISSUES = 20;

/**
 * A refusal of what does not fit a schema.
 *
 * @param part what of the request it is, as people call it: `body`, `query`
 */
export function invalid(part: string, error: z.ZodError): HoldfastError {
  const errors = error.issues.flatMap(toIssues).slice(0, MAX_ISSUES);
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  return new HoldfastError('invalid_request', `The ${part} is invalid. ${where}${first?.message}`, { errors });
}

/** What is not there is said in words of JSON, not of JavaScript's `undefined`. */
export const plainly: z.core.$ZodErrorMap = ({ code, input }) =>
  code === 'invalid_type' && input === undefined ? 'This is required.' : undefined;

function toIssues(issue: z.core.$ZodIssue): Issue[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: pointer(issue.path), message: issue.message }];
  return issue.keys.map((key) => ({
    path: pointer([...issue.path, key]),
    message: 'Nothing by this name is known here.',
  }));
}

/** A JSON Pointer, RFC 6901. */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
