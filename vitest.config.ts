import { defineConfig } from 'vitest/config';

/** What depends on the engine that serves gRPC runs by the other one as well. */
const byEngine = [
  'batch-and-stream',
  'control-stream',
  'first-light',
  'transport',
  'unfinished-messages',
  'unread-answers',
];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'all', include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'by grpc-js',
          include: byEngine.map((file) => `tests/e2e/${file}.test.ts`),
          env: { REEVE_TEST_ENGINE: 'grpc-js' },
        },
      },
    ],
    // Generous: the machine may be busy, and no test asserts how long anything takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most tests wait for a gateway or a browser in another process: three at once keep two cores busy.
    maxWorkers: 3,
    // One worker runs many files: what they import is loaded once, and they share one PostgreSQL server. So no test file
    // changes a global, and each takes back what it changes in a module.
    pool: 'forks',
    isolate: false,
    reporters: ['default', './tests/harness/closing-line.ts'],
  },
});
