import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { ModelConfig } from './model-config.ts';

/**
 * The model that the configuration names, or the demonstration. The only place that loads a provider, and only now: every
 * thread loads the agents when it starts.
 *
 * @param onBytes called for whatever the server sends, comments that only keep the connection included
 */
export async function openModel({ server }: ModelConfig, onBytes: () => void): Promise<LanguageModelV3> {
  if (server === null) {
    const { createDemoModel } = await import('./demo-model.ts');
    return createDemoModel();
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'model',
    baseURL: server.url,
    includeUsage: true,
    fetch: (input, init) => listenedFetch(input, init, onBytes),
    ...(server.key !== null && { apiKey: server.key }),
  });
  return provider.chatModel(server.model);
}

async function listenedFetch(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, onBytes: () => void) {
  const response = await fetch(input, init);
  onBytes();
  const listener = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      onBytes();
      controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body?.pipeThrough(listener) ?? null, { status, statusText, headers });
}
