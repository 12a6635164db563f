import { describe, expect, test } from 'vitest';
import { readModelConfig } from '../../src/agents/model-config.ts';

describe('the configuration of models', () => {
  test('is the demonstration where nothing is said, and an empty variable says nothing', () => {
    const config = readModelConfig({ HOLDFAST_MODEL_URL: '', HOLDFAST_MAX_STEPS: '', HOLDFAST_MODEL_IDLE_MS: '' });

    expect(config).toMatchObject({ server: null, maxSteps: 20, idleMs: 60_000 });
    expect(config.systemPrompt).toMatch(/^You are a helpful assistant\./);
  });

  test('is what the environment says', () => {
    const config = readModelConfig({
      HOLDFAST_MODEL_URL: 'http://localhost:11434/v1',
      HOLDFAST_MODEL: 'llama',
      HOLDFAST_SYSTEM_PROMPT: 'Be kind.',
      HOLDFAST_MAX_STEPS: '5',
      HOLDFAST_MODEL_IDLE_MS: '1000',
    });

    expect(config).toEqual({
      server: { url: 'http://localhost:11434/v1', model: 'llama', key: null },
      systemPrompt: 'Be kind.',
      maxSteps: 5,
      idleMs: 1000,
    });
  });

  test('does not look at the server where an assistant has its own model', () => {
    expect(readModelConfig({ HOLDFAST_MODEL_URL: 'api.example.com', HOLDFAST_MAX_STEPS: '5' }, true)).toMatchObject({
      server: null,
      maxSteps: 5,
    });
  });

  test.each([
    [{ HOLDFAST_MODEL_URL: 'api.example.com' }, /HOLDFAST_MODEL_URL must be a URL/],
    [{ HOLDFAST_MODEL_URL: 'file:///etc' }, /HOLDFAST_MODEL_URL must be a URL/],
    [{ HOLDFAST_MODEL_URL: 'https://me@api.test/v1' }, /HOLDFAST_MODEL_URL must have no user name/],
    [{ HOLDFAST_MODEL_URL: 'https://:s3cret@api.test/v1' }, /^(?!.*s3cret).*HOLDFAST_MODEL_URL must have no user name/],
    [{ HOLDFAST_MODEL_URL: 'https://api.example.com/v1' }, /HOLDFAST_MODEL must name a model/],
    [{ HOLDFAST_MAX_STEPS: '0' }, /HOLDFAST_MAX_STEPS must be 1 at least/],
    [{ HOLDFAST_MAX_STEPS: '2.5' }, /HOLDFAST_MAX_STEPS must be a whole number/],
    [{ HOLDFAST_MODEL_IDLE_MS: 'soon' }, /HOLDFAST_MODEL_IDLE_MS must be a whole number/],
  ])('of %o is refused with the name of the variable', (env, message) => {
    expect(() => readModelConfig(env)).toThrow(
      expect.objectContaining({ code: 'model_misconfigured', status: 400, message: expect.stringMatching(message) }),
    );
  });
});
