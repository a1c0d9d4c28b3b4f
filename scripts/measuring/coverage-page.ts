import { relative } from 'node:path';
import type { FileReached, Reached } from './reached.ts';
import { added, none } from './reached.ts';
import type { TestRun } from './run-vitest.ts';

/** One part of the measurement, as it is told on the page. */
export interface Part extends TestRun {
  readonly what: string;
  /** A day. */
  readonly at: string;
}

/** The processes that were measured, and the tests that started them. */
interface Processes {
  readonly count: number;
  readonly tests: readonly string[];
}

export function coveragePage(
  files: ReadonlyMap<string, FileReached>,
  parts: readonly Part[],
  { count, tests }: Processes,
): string {
  const places = new Map<string, FileReached>();
  for (const [file, reached] of files) {
    for (const place of ['all', placeOf(file)]) {
      const before = places.get(place) ?? { lines: none, branches: none };
      places.set(place, {
        lines: added(before.lines, reached.lines),
        branches: added(before.branches, reached.branches),
      });
    }
  }
  const rows = [...places]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([place, { lines, branches }]) => `| ${place} | ${cells(lines)} | ${cells(branches)} |`);
  return `# Coverage

\`npm run coverage\` wrote this page. It says which lines and branches of \`packages/*/src\` tests reach, in two steps:

- **beside**: the tests that stand beside the sources, in the process of Vitest.
- **all**: these, and ${count} processes of the command that other tests started: gateways, proxies, hooks and commands, with
  their threads, by \`NODE_V8_COVERAGE\`. A process that a test kills tells nothing.

The processes are those of ${tests.map((test) => `\`${test}\``).join(', ')}.

What only other tests reach is not counted: browsers, clusters, chaos, the image. So the dashboard counts by the models of its
pages alone. No figure fails a build; [mutation testing](trust.md) says more about how much a test notices.

| Measured | On | Tests passed | Failed |
| --- | --- | --- | --- |
${parts.map(({ what, at, passed, failed }) => `| ${what} | ${at} | ${passed} | ${failed.length} |`).join('\n')}

| Place | Lines | beside | all | Branches | beside | all |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
${failures(parts.flatMap(({ failed }) => failed))}`;
}

function failures(failed: readonly string[]): string {
  if (failed.length === 0) return '';
  return `
## Failed while they were measured

Measured code is slower, and a busy machine more so. What these tests reach up to their failure is counted.

${failed.map((name) => `- ${escaped(name)}`).join('\n')}
`;
}

/** The names of tests may hold what Markdown reads. */
function escaped(text: string): string {
  return text.replaceAll(/[<>|*_`[\]]/g, (sign) => `\\${sign}`);
}

/** The package of a file, and in the core and the gateway its first folder as well. */
function placeOf(file: string): string {
  const [, name = '', , ...rest] = relative('.', file).split('/');
  return (name === 'core' || name === 'gateway') && rest.length > 1 ? `${name}/${rest[0]}` : name;
}

function cells({ total, inside, all }: Reached): string {
  return `${total} | ${share(inside, total)} | ${share(all, total)}`;
}

function share(covered: number, total: number): string {
  return total === 0 ? 'none' : `${((100 * covered) / total).toFixed(1)} %`;
}
