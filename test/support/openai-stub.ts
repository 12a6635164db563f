import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as OpenAI's chat completions have it, of what the tests look at. */
export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: { function: { name: string; description: string; parameters: unknown } }[];
  stream: boolean;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** One answer on its way, written by hand: whatever a test does not do does not happen. Promises resolve once it is sent. */
export interface Wire {
  readonly request: ChatRequest;
  /** The value of `Authorization`. */
  readonly authorization: string | undefined;
  /** Sends the head of a stream alone. */
  open(): Promise<void>;
  text(...pieces: string[]): Promise<void>;
  /** A call of a tool in the pieces of its arguments, the first with its id and name. */
  call(index: number, id: string, name: string, ...pieces: string[]): Promise<void>;
  /** Ends as it should: the reason, what was used (10 and 5 tokens), and `[DONE]`. */
  finish(reason: 'stop' | 'tool_calls' | 'length' | 'content_filter'): Promise<void>;
  /** Sends text as it is into the stream. */
  raw(text: string): Promise<void>;
  /** Ends the stream without a word of why. */
  end(): void;
  /** Breaks the connection. */
  cut(): void;
  refuse(status: number, error: { message: string; code?: string }, headers?: Record<string, string>): void;
}

export interface OpenAiStub {
  /** For `HOLDFAST_MODEL_URL`. */
  readonly url: string;
  /** All that have come, oldest first. */
  readonly requests: readonly ChatRequest[];
  close(): Promise<void>;
}

/** A server of models that answers as a test says, over real HTTP and server-sent events. */
export async function openOpenAiStub(answer: (wire: Wire) => unknown): Promise<OpenAiStub> {
  const requests: ChatRequest[] = [];
  const server = http.createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    if (incoming.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const request: ChatRequest = JSON.parse(body);
    requests.push(request);
    await answer(createWire(request, incoming.headers.authorization, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function createWire(request: ChatRequest, authorization: string | undefined, response: http.ServerResponse): Wire {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: request.model };

  function raw(text: string): Promise<void> {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    // A connection that is gone is nothing to the test: it is often the test that has ended it.
    return new Promise((resolve) => response.write(text, () => resolve()));
  }

  const chunk = (more: object) => raw(`data: ${JSON.stringify({ ...head, ...more })}\n\n`);
  const delta = (content: object) => chunk({ choices: [{ index: 0, delta: content, finish_reason: null }] });

  return {
    request,
    authorization,
    open: () => raw(': processing\n\n'),
    raw,
    async text(...pieces) {
      for (const content of pieces) await delta({ content });
    },
    async call(index, id, name, first, ...pieces) {
      await delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: first ?? '' } }] });
      for (const piece of pieces) await delta({ tool_calls: [{ index, function: { arguments: piece } }] });
    },
    async finish(reason) {
      await chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
      await chunk({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
      await raw('data: [DONE]\n\n');
      response.end();
    },
    end: () => response.end(),
    cut: () => response.destroy(),
    refuse(status, error, headers = {}) {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify({ error }));
    },
  };
}
