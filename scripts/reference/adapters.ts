import { readFileSync } from 'node:fs';
import type { AdapterSpec, Case, Table } from '../../tests/adapters/table.ts';
import { readTable } from '../../tests/adapters/table.ts';
import { code, page, prose, table } from './page.ts';

interface AdapterResult {
  readonly name: string;
  readonly language: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly cases: Readonly<Record<string, string>>;
}

const languages = [
  ['typescript', 'TypeScript'],
  ['python', 'Python'],
] as const;

/** Which cases each SDK and adapter can do, by the table of cases and the last conformance run. */
export function adaptersPage(): string {
  const cases = readTable();
  const results = JSON.parse(readFileSync('docs/adapters-results.json', 'utf8')) as readonly AdapterResult[];
  return page(
    'Adapters',
    'What each SDK and each framework adapter does, as `npm run conformance -- --only adapters --write` found at its last run. ' +
      'The cases are those of `tests/adapters/cases.yaml`, the same for all. Every adapter runs in the agent loop of its ' +
      'framework, with a scripted model and a real gateway.',
    '`yes`: the case passed. A number stands for a case that the framework makes impossible; the reason is below. The guides ' +
      'for [TypeScript](../guides/frameworks.md) and [Python](../guides/frameworks-python.md) say how to use them.',
    ...languages.flatMap(([language, title]) => languagePart(cases, results, language, title)),
  );
}

function languagePart(cases: Table, results: readonly AdapterResult[], language: string, title: string): string[] {
  const specs = cases.adapters.filter((each) => each.language === language);
  if (specs.length === 0) return [];
  const resultOf = ({ name }: AdapterSpec) => results.find((each) => each.name === name && each.language === language);
  const reasons = [...new Set(specs.flatMap(({ cannot = {} }) => Object.values(cannot)))];
  const cellOf = (spec: AdapterSpec, { name }: Case) => {
    const reason = spec.cannot?.[name];
    if (reason !== undefined) return `(${reasons.indexOf(reason) + 1})`;
    const found = resultOf(spec)?.cases[name];
    return found === undefined ? 'not run' : found === 'passed' ? 'yes' : '**no**';
  };
  const rows = cases.cases.map((each) => [prose(each.title), ...specs.map((spec) => cellOf(spec, each))]);
  const versions = specs.map((spec) => [
    spec.title,
    Object.entries(resultOf(spec)?.versions ?? {})
      .map(([name, version]) => `${code(name)} ${version}`)
      .join(', '),
  ]);
  return [
    `## ${title}`,
    table(['Case', ...specs.map((spec) => spec.title)], rows),
    ...(reasons.length === 0 ? [] : [reasons.map((reason, index) => `${index + 1}. ${reason}.`).join('\n')]),
    'The versions of the last run:',
    table(['Subject', 'Tested with'], versions),
  ];
}
