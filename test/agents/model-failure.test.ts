import { describe, expect, test } from 'vitest';
import { toModelFailure } from '../../src/agents/model-failure.ts';

/** An error as the providers of the AI SDK throw it for a response. */
function refusal(statusCode: number, message = 'No.') {
  return Object.assign(new Error(message), { name: 'AI_APICallError', statusCode });
}

describe('a failure of a model', () => {
  test.each([
    [refusal(401), 'model_unauthorized', 401],
    [refusal(403), 'model_unauthorized', 403],
    [refusal(404), 'model_not_found', 404],
    [refusal(402), 'model_quota_exhausted', 402],
    [refusal(429, 'You exceeded your current quota, please check your plan.'), 'model_quota_exhausted', 402],
    [refusal(429), 'model_rate_limited', 429],
    [refusal(429, 'Too many tokens per minute: the model context is not the matter.'), 'model_rate_limited', 429],
    [refusal(400, "This model's maximum context length is 8192 tokens."), 'model_context_too_long', 400],
    [refusal(413, 'Prompt is too long'), 'model_context_too_long', 400],
    [refusal(500, 'the request exceeds the available context size'), 'model_context_too_long', 400],
    [
      refusal(400, 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000'),
      'model_context_too_long',
      400,
    ],
    [
      refusal(400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).'),
      'model_context_too_long',
      400,
    ],
    [
      Object.assign(refusal(400), { responseBody: '{"error":{"code":"context_length_exceeded"}}' }),
      'model_context_too_long',
      400,
    ],
    [
      Object.assign(refusal(429), { responseBody: '{"error":{"type":"insufficient_quota"}}' }),
      'model_quota_exhausted',
      402,
    ],
    [refusal(400, 'Unknown parameter: tools.'), 'model_request_refused', 400],
    [refusal(422), 'model_request_refused', 422],
    [refusal(408), 'model_unavailable', 408],
    [refusal(503), 'model_unavailable', 503],
    [Object.assign(new Error('Cannot connect'), { isRetryable: true }), 'model_unavailable', undefined],
    [new Error('The author of this provider has made a mistake.'), 'model_error', 400],
  ] as const)('while it is asked: %s is %s, and %s for the step that may call again', (error, code, status) => {
    const failure = toModelFailure(error, 'asking');

    expect(failure).toMatchObject({ code, message: expect.stringMatching(new RegExp(`^${code}: .*\\.`)) });
    expect(failure.status).toBe(status);
    expect(failure.cause).toBe(error);
  });

  test.each([
    [new TypeError('terminated'), 'model_interrupted'],
    [Object.assign(new Error('Bad.'), { name: 'AI_JSONParseError' }), 'model_bad_response'],
    [{ message: 'Rate limit reached', code: 429 }, 'model_rate_limited'],
    [{ message: 'Overloaded', code: 'server_error' }, 'model_interrupted'],
    [{ message: 'The prompt is too long', type: 'invalid_request_error' }, 'model_context_too_long'],
    ['The model has melted.', 'model_interrupted'],
    [undefined, 'model_interrupted'],
  ] as const)('while it answers: %o is %s', (error, code) => {
    expect(toModelFailure(error, 'reading').code).toBe(code);
  });

  test('gives what the server said, in as many words as help', () => {
    expect(toModelFailure(refusal(400, `x${'y'.repeat(5000)}`), 'asking').message.length).toBeLessThan(500);
  });

  test('has the key blanked out wherever the server repeats it, before it is cut, and keeps no cause with it', () => {
    const error = refusal(401, `${'x'.repeat(295)} sk-12345 and sk-12345`);

    const failure = toModelFailure(error, 'asking', 'sk-12345');

    expect(failure.message).not.toContain('sk-1');
    expect(failure.message).toContain('x ***');
    expect(failure.cause).toBeUndefined();
    expect(toModelFailure(refusal(401, 'Wrong: sk-12345.'), 'asking', 'sk-12345').message).toContain('"Wrong: ***."');
  });

  test.each([
    [refusal(400, "'messages.2' : property 'reasoning_content' is unsupported"), 'reasoning'],
    [refusal(400, 'Unknown parameter: tools.'), undefined],
    [refusal(500, 'The reasoning engine has failed.'), undefined],
  ])('by %s says whether reasoning is refused: %s', (error, refuses) => {
    expect(toModelFailure(error, 'asking').refuses).toBe(refuses);
  });

  test('keeps the headers that say when to come back', () => {
    const error = Object.assign(refusal(429), { responseHeaders: { 'retry-after': '7' } });

    expect(toModelFailure(error, 'asking').responseHeaders).toEqual({ 'retry-after': '7' });
  });
});
