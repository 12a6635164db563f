import { describe, expect, test } from 'vitest';
import { type Envelope, Outbox } from '../../src/worker/outbox.ts';
import { MAX_BATCH_LENGTH, MAX_UNACKNOWLEDGED_LENGTH, type Report } from '../../src/worker/protocol.ts';

const MIB = 1024 * 1024;

function envelope(length: number, events = 1): Envelope {
  return { report: { kind: 'wake', taskId: String(length), fence: 1 }, events, length, isSent: false, onSent() {} };
}

/** An outbox, and the lengths of what it has sent, batch by batch. */
function outbox(...lengths: number[]) {
  const sent: number[][] = [];
  const box = new Outbox((batch: Report[]) =>
    sent.push(batch.map((report) => ('taskId' in report ? Number(report.taskId) : 0))),
  );
  const envelopes = lengths.map((length) => envelope(length));
  for (const each of envelopes) box.push(each);
  return { box, sent, envelopes };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate);
}

describe('the outbox', () => {
  test('puts no more than 1 MiB into a batch', async () => {
    const { sent } = outbox(0.4 * MIB, 0.39 * MIB, 0.38 * MIB, 0.1 * MIB);

    await turns();

    expect(sent).toEqual([
      [0.4 * MIB, 0.39 * MIB],
      [0.38 * MIB, 0.1 * MIB],
    ]);
    expect(MAX_BATCH_LENGTH).toBe(MIB);
  });

  test('lets no more than 4 MiB out unacknowledged, and the rest as it comes back', async () => {
    const { box, sent, envelopes } = outbox(...Array(6).fill(0.9 * MIB));
    await turns();
    expect(sent.flat()).toHaveLength(4);

    for (const each of envelopes.slice(0, 1)) box.acknowledge(each);
    await turns();

    expect(sent.flat()).toHaveLength(5);
    expect(MAX_UNACKNOWLEDGED_LENGTH).toBe(4 * MIB);
  });

  test('sends a report that is longer than a batch alone', async () => {
    const { sent } = outbox(1, 2 * MIB, 2);

    await turns();

    expect(sent).toEqual([[1], [2 * MIB], [2]]);
  });

  test('sends a report that is longer than all its credit when nothing else is on its way', async () => {
    const { box, sent, envelopes } = outbox(1, 9 * MIB, 2);
    await turns();
    expect(sent).toEqual([[1]]);

    for (const each of envelopes.slice(0, 1)) box.acknowledge(each);
    await turns();
    expect(sent).toEqual([[1], [9 * MIB]]);

    for (const each of envelopes.slice(1, 2)) box.acknowledge(each);
    await turns();
    expect(sent).toEqual([[1], [9 * MIB], [2]]);
  });

  test('takes back the credit of what it forgets', async () => {
    const { box, sent, envelopes } = outbox(9 * MIB, 1, 2);
    await turns();

    box.forget(envelopes.slice(0, 2));
    await turns();

    expect(sent).toEqual([[9 * MIB], [2]]);
  });

  // Would fail if what one task has to report stood before what others have, however much it is.
  test('gives the tasks turns, each in its own order', async () => {
    const sent: string[] = [];
    const box = new Outbox((batch) => {
      for (const report of batch) if (report.kind === 'wake') sent.push(`${report.taskId} ${report.fence}`);
    });
    for (const [at, taskId] of [...'aaaabbc'].entries()) {
      box.push({ ...envelope(1), report: { kind: 'wake', taskId, fence: at } });
    }

    await turns();

    expect(sent).toEqual(['a 0', 'b 4', 'c 6', 'a 1', 'b 5', 'a 2', 'a 3']);
  });
});
