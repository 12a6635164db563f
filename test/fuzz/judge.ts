import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Outcome } from './connection.ts';
import { headerOf, isStream, type WireAnswer } from './response-reader.ts';

/** The codes that docs/protocol.md §9 lists for HTTP. */
const KNOWN_CODES = codesOf(readFileSync(path.join(import.meta.dirname, '../../docs/protocol.md'), 'utf8'));
/** Stacks, paths, and the words of what is inside. */
const INTERNALS = /\bat \S+ \(|node_modules|file:\/\/\/(?!etc)|SQLITE_|ZodError|\[object/;
/** How Node itself refuses what it does not even hand over: HTTP/1.1 without a Host, and an expectation of its own. */
const BY_NODE = new Set([400, 417]);

function codesOf(protocol: string): ReadonlySet<string> {
  const [section = ''] = protocol.split('\n## 9. Codes\n')[1]?.split('\n\nTask errors') ?? [];
  return new Set([...section.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => code));
}

/** What is wrong with how a request ended; null for nothing. */
export function faultOf(outcome: Outcome, isHead: boolean): string | null {
  switch (outcome.kind) {
    case 'answer':
      return faultOfAnswer(outcome.answer, isHead) ?? faultOfEnd(outcome.answer, isHead);
    case 'left':
      return outcome.head === null ? null : faultOfOpen(outcome.head, outcome.soFar);
    case 'closed':
      return 'the connection was closed without an answer';
    case 'hung':
      return `nothing was answered within ${Math.round(outcome.ms)} ms`;
    case 'broken':
      return `the answer is no HTTP: ${outcome.why}`;
  }
}

/** What is wrong with an answer by itself; null for nothing. */
export function faultOfAnswer(answer: WireAnswer, isHead = false): string | null {
  const { status, body } = answer;
  if (status >= 500 && status !== 503) return `a ${status}`;
  if (status === 503 && headerOf(answer, 'retry-after') === null) return 'a 503 without Retry-After';
  if (answer.headers.some(([name]) => name === 'x-injected')) return 'a header of the client was injected';
  if (isStream(answer)) return isHead ? null : faultOfStream(body);
  if (isByNode(answer)) return null;
  if (headerOf(answer, 'x-content-type-options') !== 'nosniff') return 'no nosniff';
  if (status >= 400) return isHead ? null : faultOfProblem(answer);
  if (status === 204 || isHead || headerOf(answer, 'content-type') !== 'application/json') return null;
  return isJson(body) ? null : 'the JSON of a good answer cannot be read';
}

function isByNode({ status, headers }: WireAnswer): boolean {
  return BY_NODE.has(status) && !headers.some(([name]) => name === 'content-type');
}

function faultOfOpen(head: WireAnswer, soFar: string): string | null {
  if (!isStream(head)) return head.status >= 500 && head.status !== 503 ? `a ${head.status}` : null;
  return head.status === 200 ? faultOfStream(soFar) : `a stream with ${head.status}`;
}

/** Lines of docs/protocol.md §5.3 and no others, up to where it was left. */
function faultOfStream(text: string): string | null {
  const lines = text.split('\n');
  lines.pop();
  if (lines.length > 0 && lines[0] !== ': ok') return 'a stream that does not begin with ": ok"';
  const odd = lines.find((line) => line !== '' && !/^(: (ok|hb)|retry: \d+|(id|event|data): [^\r]*)$/.test(line));
  return odd === undefined ? null : `no line of a stream: ${JSON.stringify(odd.slice(0, 200))}`;
}

/** A server ends no stream without a word. */
function faultOfEnd(answer: WireAnswer, isHead: boolean): string | null {
  if (isHead || !isStream(answer)) return null;
  const last = answer.body.trimEnd().split('\n\n').at(-1) ?? '';
  const isSaid = /^event: (end|bye)$/m.test(last) && answer.body.endsWith('\n\n');
  return isSaid ? null : `a stream that ends with ${JSON.stringify(answer.body.slice(-200))}`;
}

function faultOfProblem({ status, headers, body }: WireAnswer): string | null {
  if (headerOf({ headers }, 'content-type') !== 'application/problem+json')
    return `a ${status} that is no problem+json`;
  if (!isJson(body)) return `a ${status} whose body is no JSON`;
  const problem: { code?: unknown; status?: unknown; detail?: unknown } = JSON.parse(body);
  if (typeof problem.code !== 'string' || !KNOWN_CODES.has(problem.code)) return `an unknown code ${problem.code}`;
  if (problem.status !== status) return `a ${status} that says ${problem.status}`;
  return INTERNALS.test(String(problem.detail)) ? 'a problem that tells of what is inside' : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
