import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    // Generous: the machine may be busy, and no test asserts how long anything takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Most tests wait for a gateway in another process: two at once on two cores take half the time of one.
    maxWorkers: 2,
    reporters: ['default', './tests/harness/closing-line.ts'],
  },
});
