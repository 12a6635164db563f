import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start real threads and real servers, from source: a process each keeps them apart.
    pool: 'forks',
    // One more than the smallest machine has cores: many tests wait, for a silence that must be long enough or a deadline.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    unstubEnvs: true,
    coverage: {
      provider: 'v8',
      reporter: ['text'],
      // What decides every race: the pure functions between loading and writing.
      include: [
        'src/model/verbs/**',
        'src/model/{batch,ending,closing,resume,resolving,cut,fence,turn,lane,message}.ts',
      ],
      thresholds: { branches: 100 },
    },
  },
});
