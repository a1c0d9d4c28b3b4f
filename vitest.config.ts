import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { ShortFilesLast } from './tests/harness/short-files-last.ts';

/**
 * What takes long for one rule: storms, much data, whole installations, single pages in a browser. `npm run test:long`
 * runs it, and so does the workflow of the forge.
 */
const long = [
  'packages/core/src/replication/every-read.test.ts',
  'packages/gateway/src/adapters/backup/encrypted-bytes.test.ts',
  'packages/gateway/src/adapters/backup/unpack-backup.test.ts',
  'packages/gateway/src/adapters/postgres/migrate-postgres.test.ts',
  'packages/gateway/src/startup/check-anchor.test.ts',
  'tests/browser/approvals.test.ts',
  'tests/browser/audit.test.ts',
  'tests/browser/budgets.test.ts',
  'tests/browser/connect-lines.test.ts',
  'tests/browser/connect.test.ts',
  'tests/browser/foundation.test.ts',
  'tests/browser/gateways.test.ts',
  'tests/browser/identity.test.ts',
  'tests/browser/on-behalf-of.test.ts',
  'tests/browser/ops-control.test.ts',
  'tests/browser/ops-load.test.ts',
  'tests/browser/ops.test.ts',
  'tests/browser/overview.test.ts',
  'tests/browser/people.test.ts',
  'tests/browser/policies.test.ts',
  'tests/browser/runs.test.ts',
  'tests/browser/sign-in.test.ts',
  'tests/browser/single-sign-on.test.ts',
  'tests/browser/topology.test.ts',
  'tests/chaos/fifty-agents.test.ts',
  'tests/chaos/legacy-store.test.ts',
  'tests/chaos/packed-log.test.ts',
  'tests/chaos/postgres-outage.test.ts',
  'tests/chaos/stop.test.ts',
  'tests/cluster/ended-ops.test.ts',
  'tests/cluster/fork.test.ts',
  'tests/cluster/outages.test.ts',
  'tests/cluster/poison.test.ts',
  'tests/cluster/storm.test.ts',
  'tests/doors/llm-gateway-away.test.ts',
  'tests/doors/mcp-oauth-person.test.ts',
  'tests/e2e/account-timing.test.ts',
  'tests/e2e/audit-anchor.test.ts',
  'tests/e2e/backtest.test.ts',
  'tests/e2e/budget-clocks.test.ts',
  'tests/e2e/cli-completion.test.ts',
  'tests/e2e/cli-doctor-tenants.test.ts',
  'tests/e2e/cli-policy.test.ts',
  'tests/e2e/configuration.test.ts',
  'tests/e2e/demo.test.ts',
  'tests/e2e/durable-stores.test.ts',
  'tests/e2e/evaluate-aside-memory.test.ts',
  'tests/e2e/events-slow-readers.test.ts',
  'tests/e2e/ledger.test.ts',
  'tests/e2e/nobody-blocks/nobody-blocks.test.ts',
  'tests/e2e/retention.test.ts',
  'tests/e2e/tenancy-in-memory.test.ts',
  'tests/e2e/tracing.test.ts',
  'tests/e2e/unfinished-memory.test.ts',
  'tests/e2e/upgrade.test.ts',
  'tests/floor/floor-lost-gateway.test.ts',
  'tests/fuzz/openapi.test.ts',
  'tests/packages/checkout.test.ts',
  'tests/packages/executable.test.ts',
  'tests/packages/typescript-versions.test.ts',
  'tests/simulation/seeds.test.ts',
  'tests/trust/trust.test.ts',
];

/** The tests that try the same on each store (`tests/harness/stores.ts`). */
const onEveryStore = globSync('tests/**/*.test.ts').filter(
  (file) => !long.includes(file) && readFileSync(file, 'utf8').includes('each(durableStores)'),
);

/** Code that `npm run coverage` measures is slower. It starts Vitest, and can tell it so only by the environment. */
// oxlint-disable-next-line node/no-process-env
const patienceMs = Number(process.env['REEVE_TEST_PATIENCE_MS'] ?? 120_000);

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...long],
          env: { REEVE_TEST_STORE: 'SQLite' },
        },
      },
      { extends: true, test: { name: 'long', include: long } },
      // What holds on every store, on the one that takes longer to start.
      { extends: true, test: { name: 'postgres', include: onEveryStore, env: { REEVE_TEST_STORE: 'PostgreSQL' } } },
    ],
    // Generous: the machine may be busy, and no test asserts how long anything takes.
    testTimeout: patienceMs,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: patienceMs,
    // Most tests wait for a gateway or a browser in another process: four at once keep two cores busy.
    maxWorkers: 4,
    sequence: { sequencer: ShortFilesLast },
    // One worker runs many files: what they import is loaded once, and they share one PostgreSQL server. So no test file
    // changes a global, and each takes back what it changes in a module.
    pool: 'forks',
    // What tests make is mostly garbage at once.
    execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=64'],
    isolate: false,
    reporters: ['default', './tests/harness/closing-line.ts'],
  },
});
