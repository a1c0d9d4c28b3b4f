// npm run coverage: which lines and branches of the packages their tests reach, into docs/coverage.md. There is no limit
// to pass.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const page = 'docs/coverage.md';

interface Counted {
  readonly total: number;
  readonly covered: number;
}

type Summary = Readonly<Record<string, { readonly lines: Counted; readonly branches: Counted }>>;

/** The tests beside the sources. Vitest measures its own processes alone, so the gateways that other tests start would not count. */
function measure(folder: string): Summary {
  const args = [
    ...['run', '--project', 'all', 'packages/', '--coverage.enabled', '--coverage.provider=v8'],
    // Measured code is slower, and no test asserts how long anything takes.
    '--testTimeout=300000',
    ...['--coverage.reporter=json-summary', `--coverage.reportsDirectory=${folder}`],
    ...[
      '--coverage.include=packages/*/src/**/*.{ts,tsx}',
      '--coverage.exclude=**/*.test.ts',
      '--coverage.exclude=**/gen/**',
    ],
  ];
  const { status } = spawnSync('node_modules/.bin/vitest', args, { stdio: 'inherit' });
  if (status !== 0) throw new Error('tests have failed; their coverage says nothing');
  return JSON.parse(readFileSync(join(folder, 'coverage-summary.json'), 'utf8')) as Summary;
}

/** The package of a file, and in the core and the gateway its first folder as well. */
function placeOf(file: string): string {
  const [, name = '', , ...rest] = relative('.', file).split('/');
  return (name === 'core' || name === 'gateway') && rest.length > 1 ? `${name}/${rest[0]}` : name;
}

function pageOf(summary: Summary): string {
  const places = new Map<string, { lines: Counted; branches: Counted }>();
  for (const [file, { lines, branches }] of Object.entries(summary)) {
    for (const place of file === 'total' ? ['all'] : [placeOf(file)]) {
      const before = places.get(place);
      places.set(place, { lines: sum(before?.lines, lines), branches: sum(before?.branches, branches) });
    }
  }
  const rows = [...places]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([place, { lines, branches }]) =>
        `| ${place} | ${share(lines)} | ${lines.total} | ${share(branches)} | ${branches.total} |`,
    );
  return `# Coverage

\`npm run coverage\` wrote this page. It runs the tests that stand beside the sources, and measures which lines and branches
they reach, by Vitest and V8. The tests under \`tests/\` are not measured: they start real gateways, which are processes of
their own. So a figure is low where code is tested from outside, such as transports, adapters and commands. No figure
fails a build; [mutation testing](trust.md) says more about how much a test notices.

| Place | Lines reached | Lines | Branches reached | Branches |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function sum(before: Counted | undefined, { total, covered }: Counted): Counted {
  return { total: (before?.total ?? 0) + total, covered: (before?.covered ?? 0) + covered };
}

function share({ total, covered }: Counted): string {
  return total === 0 ? 'none' : `${((100 * covered) / total).toFixed(1)} %`;
}

const folder = mkdtempSync(join(tmpdir(), 'reeve-coverage-'));
try {
  writeFileSync(page, pageOf(measure(folder)));
  spawnSync('node_modules/.bin/biome', ['format', '--write', page]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
