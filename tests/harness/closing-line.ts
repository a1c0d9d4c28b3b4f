import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/** Writes how many tests passed and failed, for the closing line of the whole run. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that cannot be read, or whose hooks fail, fails without a test of its own that does.
    const broken = modules.filter(
      (module) =>
        module.state() === 'failed' &&
        [...module.children.allTests()].every((test) => test.result().state !== 'failed'),
    );
    const summary = {
      passed: count('passed'),
      failed: count('failed') + broken.length + errors.length,
      skipped: count('skipped'),
    };
    const out = process.env['REEVE_TEST_SUMMARY'];
    if (out !== undefined) writeFileSync(out, JSON.stringify(summary));
  }
}
