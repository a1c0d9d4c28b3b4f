// All static checks. Each check is one line of output, and all of them run.
import { spawnSync } from 'node:child_process';

interface Check {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Check[] = [
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  { name: 'types: the core stands alone', command: ['tsc', '-p', 'packages/core'] },
  { name: 'types: the contract is browser-safe', command: ['tsc', '-p', 'packages/contract'] },
  { name: 'types: the SDK runs on Node 20', command: ['tsc', '-p', 'tsconfig.node20.json'] },
  { name: 'types: the dashboard runs in browsers', command: ['tsc', '-p', 'packages/dashboard'] },
  { name: 'types: the tests in the browser', command: ['tsc', '-p', 'tests/browser'] },
  { name: 'unused code', command: ['knip'] },
  { name: 'protos', command: ['buf', 'lint'] },
  {
    name: 'protos: clients of the last release go on',
    command: ['node', 'scripts/check-compatibility.ts', 'protos'],
  },
  {
    name: 'HTTP API: clients of the last release go on',
    command: ['node', 'scripts/check-compatibility.ts', 'openapi'],
  },
  { name: 'generated code', command: ['node', 'scripts/generate.ts', '--check'] },
  { name: 'reference docs', command: ['node', 'scripts/generate-docs.ts', '--check'] },
];

/** The compiler and the linter spend a quarter of their time on collecting garbage, unless they may keep more of it. */
const env = { GOGC: '300', ...process.env };

let failed = 0;
for (const { name, command } of checks) {
  const [program = '', ...args] = command;
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${program}`, args, { encoding: 'utf8', env });
  process.stdout.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}\n`);
  if (status !== 0) {
    failed++;
    process.stdout.write(`${stdout}${stderr}\n`);
  }
}
process.stdout.write(`checks: ${checks.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
