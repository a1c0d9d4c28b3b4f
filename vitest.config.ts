import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    // Generous: the machine may be busy, and no test asserts how long anything takes.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './tests/harness/closing-line.ts'],
  },
});
