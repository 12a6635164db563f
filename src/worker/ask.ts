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
 * withdraws what was never opened: that changes nothing in the store but has a place in its order.
 */
export function openQuestion(copy: Copy, key: string, question: CheckedAsk, result: Deferred<Reply>): void {
  const { items, metadata, timeoutMs, signal } = question;
  if (signal?.aborted) {
    const onAcknowledged = (at: number) => copy.deliver(at, () => result.resolve({ status: 'withdrawn' }));
    copy.report({ kind: 'withdraw', key }, { onAcknowledged });
    return;
  }
  const withdraw = () => {
    if (copy.isPending(key)) copy.report({ kind: 'withdraw', key });
  };
  copy.expect(key, (outcome) => {
    signal?.removeEventListener('abort', withdraw);
    if (outcome.status !== 'slept') result.resolve(outcome);
  });
  signal?.addEventListener('abort', withdraw, { once: true });
  copy.report({ kind: 'ask', questionId: formatId('qst', uuidv7obj().bytes), key, items, metadata, timeoutMs });
}
