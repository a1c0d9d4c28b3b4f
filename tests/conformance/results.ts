import { textTable } from '../../bench/table.ts';
import type { H2specResult } from './h2spec.ts';
import { interopCases } from './interop-cases.ts';
import type { InteropResult } from './interop.ts';

/** What a run has found so far. */
export interface Results {
  readonly h2spec: H2specResult[];
  readonly interop: InteropResult[];
  /** Parts that could not go on, and why. */
  readonly broken: string[];
  /** Parts that were left out, and what would make them run. */
  readonly notRun: string[];
  readonly versions: (readonly [tool: string, version: string])[];
}

export function emptyResults(): Results {
  return { h2spec: [], interop: [], broken: [], notRun: [], versions: [] };
}

export function addedUp({ h2spec, interop, broken }: Results): { readonly passed: number; readonly failed: number } {
  const verdicts = h2spec.flatMap((result) => result.verdicts);
  const right = verdicts.filter(({ ok }) => ok).length + interop.filter(({ failure }) => failure === undefined).length;
  return { passed: right, failed: verdicts.length + interop.length - right + broken.length };
}

export const h2specHeader = ['engine', 'requests', 'tests', 'passed', 'failed', 'skipped', 'unexpected'] as const;

export function h2specRows({ h2spec }: Results): string[][] {
  return h2spec.map(({ engine, requests, cases, verdicts }) => {
    const number = (wanted: string) => String(cases.filter(({ outcome }) => outcome === wanted).length);
    const unexpected = verdicts.filter(({ ok }) => !ok).length;
    return [
      engine,
      requests,
      String(cases.length),
      number('passed'),
      number('failed'),
      number('skipped'),
      String(unexpected),
    ];
  });
}

/** The engine and the client of each column. */
export function interopHeader({ interop }: Results): string[] {
  return ['case', ...new Set(interop.map(columnOf))];
}

export function interopRows(results: Results): string[][] {
  const [, ...columns] = interopHeader(results);
  return interopCases.map((name) => [name, ...columns.map((column) => cellOf(results, name, column))]);
}

function columnOf({ engine, client, secure }: InteropResult): string {
  return `${engine} ← ${client}${secure ? ', TLS' : ''}`;
}

function cellOf({ interop }: Results, name: string, column: string): string {
  const found = interop.find((result) => result.name === name && columnOf(result) === column);
  if (found === undefined) return 'not run';
  return found.failure === undefined ? 'ok' : 'FAILED';
}

export function h2specTable(results: Results): string {
  return textTable(h2specHeader, h2specRows(results));
}

/** One line per engine and client: the cases stand above it. */
export function interopTable(results: Results): string {
  const [, ...columns] = interopHeader(results);
  const rows = columns.map((column) => {
    const cells = interopCases.map((name) => cellOf(results, name, column));
    const right = cells.filter((cell) => cell === 'ok').length;
    return [column, String(right), String(cells.length - right)];
  });
  return textTable(['engine ← client', 'passed', 'failed'], rows);
}
