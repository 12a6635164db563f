/** One block of an event stream, as it stood on the wire. */
export interface SseBlock {
  id: string | null;
  /** Null for an unnamed message. */
  event: string | null;
  /** Null for a block without data, which the protocol never sends. */
  data: string | null;
  retry: string | null;
  comments: string[];
  at: number;
}

/** An event of the log, out of the `data` of an unnamed block. */
export interface LogEvent {
  seq: number;
  type: string;
  taskId: string;
  conversationId: null;
  at: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into every shape of it
  data: any;
  step?: { name: string; attempt: number };
}

/** A reader of one stream that checks the framing itself and hides nothing. */
export interface SseReader {
  readonly response: Response;
  /** Everything that has come so far. */
  readonly blocks: SseBlock[];
  /** The same, byte for byte, what is no whole block yet included. */
  readonly text: string;
  /** The next block; null at the end of the stream. */
  next(): Promise<SseBlock | null>;
  /** Reads on up to and including the first block that `wanted` takes. */
  until(wanted: (block: SseBlock) => boolean): Promise<SseBlock>;
  /** Reads to the end of the stream. */
  rest(): Promise<SseBlock[]>;
  close(): void;
}

export async function openSseReader(url: string, headers: Record<string, string> = {}): Promise<SseReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: { Accept: 'text/event-stream', ...headers }, signal: abort.signal });
  const bytes = response.body?.getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const blocks: SseBlock[] = [];
  let taken = 0;
  let all = '';
  let text = '';
  let ended = bytes === undefined;

  async function next(): Promise<SseBlock | null> {
    while (taken === blocks.length && !ended) await read();
    const block = blocks[taken];
    if (block === undefined) return null;
    taken += 1;
    return block;
  }

  async function read(): Promise<void> {
    const part = await bytes?.read();
    if (part === undefined || part.done) {
      ended = true;
      return;
    }
    const piece = decoder.decode(part.value, { stream: true });
    all += piece;
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      blocks.push(parseBlock(text.slice(0, end)));
      text = text.slice(end + 2);
    }
  }

  return {
    response,
    blocks,
    get text() {
      return all;
    },
    next,
    async until(wanted) {
      for (;;) {
        const block = await next();
        if (block === null) throw new Error(`The stream ended first. It held ${JSON.stringify(blocks.slice(-5))}`);
        if (wanted(block)) return block;
      }
    },
    async rest() {
      const rest: SseBlock[] = [];
      for (let block = await next(); block !== null; block = await next()) rest.push(block);
      return rest;
    },
    close: () => abort.abort(),
  };
}

/** The log events among blocks. */
export function logEvents(blocks: readonly SseBlock[]): LogEvent[] {
  return blocks.filter((block) => block.data !== null && !isSignal(block)).map((block) => JSON.parse(block.data ?? ''));
}

export function isSignal({ event }: SseBlock): boolean {
  return event === 'caught-up' || event === 'reset' || event === 'end' || event === 'bye';
}

export function isType(type: string): (block: SseBlock) => boolean {
  return (block) => !isSignal(block) && block.data !== null && JSON.parse(block.data).type === type;
}

export function isNamed(event: string): (block: SseBlock) => boolean {
  return (block) => block.event === event;
}

function parseBlock(text: string): SseBlock {
  const block: SseBlock = { id: null, event: null, data: null, retry: null, comments: [], at: performance.now() };
  for (const line of text.split('\n')) {
    if (line.startsWith(':')) {
      block.comments.push(line.slice(1).trim());
      continue;
    }
    const match = /^(id|event|data|retry): ([^\r\n]*)$/.exec(line);
    const [, field, value] = match ?? [];
    if (field === undefined || value === undefined) throw new Error(`Not a line of a stream: ${JSON.stringify(line)}`);
    // A first block that is a `bye` has both: the later one holds.
    const again = field !== 'retry' && block[field as 'id'] !== null;
    if (again) throw new Error(`Twice in one block: ${JSON.stringify(text)}`);
    block[field as 'id'] = value;
  }
  return block;
}
