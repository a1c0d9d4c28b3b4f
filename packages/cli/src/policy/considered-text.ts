import type { RouteOutput, Routes } from '@reeve/contract/http';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import type { Shell } from '../shell.ts';

type Simulated = RouteOutput<Routes['simulatePolicy']>;
/** A rule on calls, or one on results. */
type Considered = Simulated['rules'][number] | NonNullable<Simulated['result']>['rules'][number];

const columns: readonly Column<Considered>[] = [
  {
    title: 'MATCHED',
    value: ({ matched }) => (matched ? 'yes' : 'no'),
    colour: ({ matched }) => (matched ? 'green' : 'dim'),
  },
  { title: 'RULE', value: ({ document, rule }) => `${document}/${rule}`, importance: 'major' },
  { title: 'EFFECT', value: ({ effect, observed }) => (observed ? `${effect} (observed)` : effect) },
  { title: 'WHY', value: ({ why }) => why, isFlexible: true },
];

/** Every considered rule, matching rules first. */
export function consideredText(shell: Shell, rules: readonly Considered[]): string {
  if (rules.length === 0) return 'No rule was considered.';
  const [matching, others] = [rules.filter(({ matched }) => matched), rules.filter(({ matched }) => !matched)];
  return tableText(shell, columns, [...matching, ...others]);
}
