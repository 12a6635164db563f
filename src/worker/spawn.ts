import { uuidv7obj } from 'uuidv7';
import type { ChildHandle, ChildResult } from '../model/agent.ts';
import { AGENT_NAME } from '../model/agent-name.ts';
import { formatId } from '../model/id.ts';
import { type Json, utf8Bytes } from '../model/json.ts';
import type { Copy } from './copy.ts';
import { type Deferred, defer } from './deferred.ts';
import type { Entry } from './deliveries.ts';
import { jsonText } from './json-text.ts';
import { toldValue } from './resolutions.ts';

/** As much as a request that creates a task may hold. */
const MAX_INPUT_BYTES = 256 * 1024;

/** @throws TypeError naming the rule that a child's agent or input breaks */
export function checkSpawn(agent: string, input: Json | undefined): { agent: string; input: Json } {
  if (typeof agent !== 'string' || !AGENT_NAME.test(agent)) throw new TypeError('A child needs the name of an agent.');
  const text = jsonText(input);
  if (utf8Bytes(text) > MAX_INPUT_BYTES) {
    throw new TypeError(`A child's input may hold ${MAX_INPUT_BYTES} bytes of JSON.`);
  }
  return { agent, input: JSON.parse(text) };
}

/** Starts a child. Its result is a key of its own, which comes whether or not it is asked for. */
export function spawnChild(
  copy: Copy,
  key: string,
  child: { agent: string; input: Json },
  started: Deferred<ChildHandle>,
): void {
  const ended = defer<ChildResult>();
  const end: Entry = {
    kind: 'child',
    isAwaited: false,
    settle(told) {
      const result = toldValue<ChildResult>(told);
      if (result.status === 'failed') copy.blame(result.error, endKey);
      ended.resolve(result);
    },
  };
  const result = () => {
    end.isAwaited = true;
    copy.awaits();
    return ended.promise;
  };
  const { askedAt, row } = copy.ask(key, {
    kind: 'spawn',
    isAwaited: true,
    settle: (told) => started.resolve(Object.freeze({ id: toldValue<string>(told), result })),
  });
  const endKey = `${key}>`;
  copy.ask(endKey, end);
  if (row !== null && row.status !== 'pending') return;
  const report = { kind: 'spawn', key, askedAt, childId: formatId('task', uuidv7obj().bytes), ...child } as const;
  // A child that is to be made anew: what was delivered after the first one waits for it.
  if (row !== null) copy.reportInReplay(report);
  else copy.report(report);
}
