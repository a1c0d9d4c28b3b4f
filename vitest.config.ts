import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
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
