/** Many readers of one stream, in a process of their own. Started by `fork`; counts what they get. */
import { get } from 'node:http';

export interface ReadersCommand {
  url: string;
  count: number;
  /** What is counted. */
  mark: string;
}

process.on('message', async ({ url, count, mark }: ReadersCommand) => {
  const wanted = Buffer.from(mark);
  let seen = 0;
  let open = 0;
  let ended = 0;
  for (let i = 0; i < count; i++) {
    get(url, { headers: { accept: 'text/event-stream' }, agent: false }, (response) => {
      open += 1;
      if (open === count) process.send?.('open');
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(wanted); at >= 0; at = chunk.indexOf(wanted, at + 1)) seen += 1;
      });
      response.on('end', () => {
        ended += 1;
        if (ended === count) process.send?.(seen);
      });
    });
    // A burst of a thousand would overflow the server's queue of connections.
    if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
