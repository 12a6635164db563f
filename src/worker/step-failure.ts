import { STEP_UNCERTAIN, type StepFailure } from '../model/journal.ts';
import { errorMessage, errorStack } from './error-message.ts';

/** What is kept of an error, in code units: enough to decide by, and no more than a row should hold. */
const MAX_MESSAGE_LENGTH = 16 * 1024;
const MAX_FIELD_LENGTH = 4 * 1024;
const MAX_FIELDS = 32;
const MAX_CAUSES = 8;
/** Those that have a place of their own, or say where and not what. */
const NO_FIELDS = new Set(['name', 'message', 'stack', 'cause', '__proto__']);

/** What of anything that was thrown is journaled. Never throws, whatever the thing does when it is read. */
export function toStepFailure(thrown: unknown, causes = MAX_CAUSES): StepFailure {
  const cause = causes > 0 ? read(thrown, 'cause') : undefined;
  const name = read(thrown, 'name');
  const message = read(thrown, 'message');
  return {
    name: typeof name === 'string' ? name.slice(0, MAX_FIELD_LENGTH) : 'Error',
    message: (typeof message === 'string' ? message : errorMessage(thrown)).slice(0, MAX_MESSAGE_LENGTH),
    fields: fieldsOf(thrown),
    cause: cause === undefined || cause === null ? null : toStepFailure(cause, causes - 1),
  };
}

/**
 * The error that the code sees, live as on replay, so that it decides alike both times: always an `Error`, never of the
 * class that was thrown.
 *
 * @param thrown what was thrown, where that is still known: for its stack, which is there to be read by people
 */
export function stepError({ name, message, fields, cause }: StepFailure, thrown?: unknown): Error {
  const error = new Error(message, cause === null ? {} : { cause: stepError(cause, read(thrown, 'cause')) });
  const stack = thrown === undefined ? `${name}: ${message}` : errorStack(thrown);
  for (const [field, value] of Object.entries({ name, stack })) {
    Object.defineProperty(error, field, { value, writable: true, configurable: true });
  }
  for (const [field, value] of Object.entries(fields)) {
    Object.defineProperty(error, field, { value, writable: true, configurable: true, enumerable: true });
  }
  return error;
}

/** What a `once` step comes to when nobody knows whether its function has done its work. */
export function uncertainty(key: string): StepFailure {
  const message = `The step "${key}" runs only once, and may have run before: nobody knows how far it came.`;
  return { name: 'StepUncertain', message, fields: { code: STEP_UNCERTAIN }, cause: null };
}

function fieldsOf(thrown: unknown): StepFailure['fields'] {
  const fields: StepFailure['fields'] = {};
  for (const field of ownKeys(thrown).filter((key) => !NO_FIELDS.has(key))) {
    const value = read(thrown, field);
    if (isScalar(value)) fields[field] = typeof value === 'string' ? value.slice(0, MAX_FIELD_LENGTH) : value;
    if (Object.keys(fields).length === MAX_FIELDS) break;
  }
  return fields;
}

function ownKeys(thrown: unknown): string[] {
  try {
    return typeof thrown === 'object' && thrown !== null ? Object.keys(thrown) : [];
  } catch {
    return [];
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
}

function read(thrown: unknown, name: string): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, name) : undefined;
  } catch {
    return undefined;
  }
}
