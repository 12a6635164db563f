import { setMaxListeners } from 'node:events';
import { uuidv7obj } from 'uuidv7';
import type { AskSpec, Reply } from '../model/agent.ts';
import { formatId } from '../model/id.ts';
import { type JsonObject, utf8Bytes } from '../model/json.ts';
import { DEFAULT_QUESTION_TIMEOUT_MS } from '../model/question.ts';
import type { QuestionItem } from '../model/question-item.ts';
import { normalizeItems } from '../model/question-spec.ts';
import type { Copy } from './copy.ts';
import type { Deferred } from './deferred.ts';
import { jsonText } from './json-text.ts';
import { checkOptions } from './known-options.ts';
import { toldValue } from './resolutions.ts';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_TIMEOUT_MS = 365 * 24 * 60 * 60_000;

/** What an agent asks, checked, with every default filled in. */
interface CheckedAsk {
  items: QuestionItem[];
  metadata: JsonObject;
  timeoutMs: number | null;
  signal: AbortSignal | null;
}

/** @throws TypeError naming the rule that the question breaks */
export function checkAsk(spec: AskSpec): CheckedAsk {
  checkOptions('A question', spec, ['items', 'metadata', 'timeoutMs', 'signal']);
  const { metadata = {}, timeoutMs = DEFAULT_QUESTION_TIMEOUT_MS, signal = null } = spec;
  if (timeoutMs !== null && !(Number.isInteger(timeoutMs) && timeoutMs >= 0 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw new TypeError("A question's timeoutMs is a whole number from 0 ms to 365 days, or null.");
  }
  if (signal !== null && !(signal instanceof AbortSignal))
    throw new TypeError("A question's signal is an AbortSignal.");
  return { items: normalizeItems(spec.items), metadata: checkMetadata(metadata), timeoutMs, signal };
}

function checkMetadata(metadata: JsonObject): JsonObject {
  const text = jsonText(metadata);
  if (!text.startsWith('{')) throw new TypeError("A question's metadata is an object.");
  if (utf8Bytes(text) > MAX_METADATA_BYTES) {
    throw new TypeError(`A question's metadata may hold ${MAX_METADATA_BYTES} bytes of JSON.`);
  }
  return JSON.parse(text);
}

/**
 * Asks, and lets the signal withdraw the question as long as nobody knows of an outcome. A signal that is aborted already
 * withdraws what was never opened: nobody is asked, but it has a place in the order of the store.
 */
export function openQuestion(copy: Copy, key: string, question: CheckedAsk, result: Deferred<Reply>): void {
  const { items, metadata, timeoutMs, signal } = question;
  const stopListening = () => signal?.removeEventListener('abort', withdraw);
  const { askedAt, row } = copy.ask(key, {
    kind: 'ask',
    isAwaited: true,
    settle(told) {
      stopListening();
      result.resolve(toldValue(told));
    },
    onClosed: stopListening,
  });
  function withdraw(): void {
    if (!copy.isDue(key)) copy.report({ kind: 'withdraw', key, askedAt });
  }
  if (signal?.aborted) {
    withdraw();
    return;
  }
  listen(signal, withdraw);
  if (row !== null) return;
  copy.report({
    kind: 'ask',
    questionId: formatId('qst', uuidv7obj().bytes),
    key,
    askedAt,
    items,
    metadata,
    timeoutMs,
  });
}

/** Any number of questions may have one signal: that is no leak. */
function listen(signal: AbortSignal | null, listener: () => void): void {
  if (signal === null) return;
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
}
