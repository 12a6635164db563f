/** Many readers of one stream, in a process of their own. Started by `fork`: first the command, then the word `finish`. */
import { openPacedReader, type Pace, type PacedReader, type Reading } from './paced-reader.ts';

export interface CrowdCommand {
  url: string;
  path: string;
  counts: Partial<Record<Pace, number>>;
}

export type CrowdReadings = { pace: Pace; reading: Reading }[];

const readers: { pace: Pace; reader: PacedReader }[] = [];
/** A burst of hundreds would wait to be taken, and be no steady load. */
const CONNECT_EVERY_MS = 5;

process.on('message', async (message: CrowdCommand | 'finish') => {
  if (message === 'finish') {
    const readings: CrowdReadings = await Promise.all(
      readers.map(async ({ pace, reader }) => ({ pace, reading: await reader.finish() })),
    );
    process.send?.(readings);
    return;
  }
  const { url, path, counts } = message;
  const paces = (Object.keys(counts) as Pace[]).flatMap((pace) =>
    Array.from({ length: counts[pace] ?? 0 }, () => pace),
  );
  let opened = 0;
  const opening = setInterval(() => {
    const pace = paces[opened++];
    if (pace !== undefined) readers.push({ pace, reader: openPacedReader(url, path, pace) });
    else clearInterval(opening);
  }, CONNECT_EVERY_MS);
});
process.on('disconnect', () => process.exit(0));
