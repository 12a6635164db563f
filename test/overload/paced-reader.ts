import net from 'node:net';

/** How a reader takes what it is sent: all, nothing, a kilobyte a second, or some until it drops its connection. */
export type Pace = 'normal' | 'stalled' | 'slow' | 'flapping';

export interface Reading {
  /** The seq of the last event that came whole; events must come one after the other from 1 on. */
  last: number;
  /** What was wrong: a hole, an event twice. */
  faults: string[];
  connections: number;
  /** How long after it was written each event came that was not read from before, in ms. */
  delaysMs: number[];
}

export interface PacedReader {
  /** From now on it reads like anybody, until it has the end. */
  finish(): Promise<Reading>;
}

const SIP_BYTES = 1024;
const SIP_EVERY_MS = 1000;
const FLAP_MS = { least: 200, most: 1500 };
const AGAIN_MS = { least: 50, most: 1000 };
const CHUNK_BYTES = 64 * 1024;

/** Reads a task's stream from its first event on, again and again from where it was, on sockets of its own. */
export function openPacedReader(url: string, path: string, pace: Pace): PacedReader {
  const { hostname, port, host } = new URL(url);
  const reading: Reading = { last: 0, faults: [], connections: 0, delaysMs: [] };
  let cursor = '0';
  let isFinishing = false;
  let socket: net.Socket | null = null;
  let ended = () => {};
  const whenEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });

  function connect(): void {
    let text = '';
    let isLive = false;
    let isOver = false;
    reading.connections += 1;

    function take(bytes: number, buffer: Uint8Array): boolean {
      text += Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) takeBlock(block);
      return pace !== 'slow' || isFinishing;
    }

    function takeBlock(block: string): void {
      if (block.includes('event: caught-up\n')) isLive = true;
      if (block.includes('event: end\n')) isOver = true;
      const [, seq] = /^data: \{"seq":(\d+),/m.exec(block) ?? [];
      if (seq === undefined) return;
      if (Number(seq) !== reading.last + 1) reading.faults.push(`${seq} after ${reading.last}`);
      reading.last = Number(seq);
      cursor = /^id: (\S+)$/m.exec(block)?.[1] ?? cursor;
      const at = /"at":"([^"]+)"/.exec(block)?.[1] ?? '';
      if (isLive) reading.delaysMs.push(Date.now() - Date.parse(at));
    }

    const size = pace === 'slow' ? SIP_BYTES : CHUNK_BYTES;
    const own = net.connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.alloc(size), callback: take },
    });
    socket = own;
    // HTTP/1.0, so that the body is what it is, without chunks.
    const lines = [`GET ${path} HTTP/1.0`, `Host: ${host}`, 'Accept: text/event-stream', `Last-Event-ID: ${cursor}`];
    own.write(`${lines.join('\r\n')}\r\n\r\n`);
    if (pace === 'stalled' && !isFinishing) own.pause();
    const sips = setInterval(() => own.resume(), SIP_EVERY_MS);
    if (pace !== 'slow') clearInterval(sips);
    const flap = setTimeout(() => own.destroy(), between(FLAP_MS));
    if (pace !== 'flapping' || isFinishing) clearTimeout(flap);
    // To be cut off is what happens to some of them.
    own.on('error', () => {});
    own.on('close', () => {
      clearInterval(sips);
      clearTimeout(flap);
      if (isOver) ended();
      else setTimeout(connect, between(AGAIN_MS));
    });
  }

  connect();
  return {
    async finish() {
      isFinishing = true;
      socket?.resume();
      await whenEnded;
      return reading;
    },
  };
}

function between({ least, most }: { least: number; most: number }): number {
  return least + Math.random() * (most - least);
}
