import { configDefaults, defineConfig } from 'vitest/config';

/**
 * Each of these starts a database and several servers, and would make the others late that run beside it: `npm run check`
 * leaves them out, `npm test` and `npm run test:nodes` have them.
 */
const CROWDED = [
  'test/cluster/**/*.test.ts',
  'test/chaos/nodes/**/*.test.ts',
  'test/examples/{proxies,pgbouncer}.test.ts',
  'test/cli/migrate.test.ts',
];

export default defineConfig({
  test: {
    // Tests start real threads and real servers, from source: a process each keeps them apart.
    pool: 'forks',
    // One more than the smallest machine has cores: many tests wait, for a silence that must be long enough or a deadline.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    unstubEnvs: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'one',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...CROWDED],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'several', include: CROWDED, sequence: { groupOrder: 1 } } },
    ],
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
