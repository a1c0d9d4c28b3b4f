import { textTable } from '../../bench/table.ts';
import type { AdapterResult } from './adapters/run-adapters.ts';
import type { DeployResult } from './deploy/trials.ts';
import type { SuiteResult } from './foreign-suite.ts';
import type { H2specResult } from './h2spec.ts';
import { interopCases } from './interop-cases.ts';
import type { HookResult } from './hooks/run-hooks.ts';
import type { InteropResult } from './interop.ts';
import type { McpResult } from './mcp/mcp-suite.ts';
import type { PackageResult } from './packages/run-packages.ts';
import { isSame, verdictText } from './mcp/mcp-suite.ts';

/** What a run has found so far. */
export interface Results {
  readonly h2spec: H2specResult[];
  readonly interop: InteropResult[];
  readonly mcp: McpResult[];
  readonly hooks: HookResult[];
  readonly adapters: AdapterResult[];
  readonly packages: PackageResult[];
  readonly deploy: DeployResult[];
  /** By the name of the suite. */
  readonly foreign: Map<string, SuiteResult>;
  /** Parts that could not go on, and why. */
  readonly broken: string[];
  /** Parts that were left out, and what would make them run. */
  readonly notRun: string[];
  readonly versions: (readonly [tool: string, version: string])[];
}

export function emptyResults(): Results {
  const parts = { h2spec: [], interop: [], mcp: [], hooks: [], adapters: [], packages: [], deploy: [] };
  return { ...parts, foreign: new Map(), broken: [], notRun: [], versions: [] };
}

export interface Sums {
  readonly passed: number;
  readonly failed: number;
  /** Tests that did not pass, as the table of exceptions expects. */
  readonly excepted: number;
}

export function addedUp(results: Results): Sums {
  const { h2spec, interop, mcp, hooks, adapters, packages, deploy, broken } = results;
  const foreign = [...results.foreign.values()];
  const passed = h2spec.flatMap(({ cases }) => cases).filter(({ outcome }) => outcome === 'passed').length;
  const verdicts = h2spec.flatMap((result) => result.verdicts);
  const wrong = verdicts.filter(({ ok }) => !ok);
  const unexpectedPasses = wrong.filter(({ note }) => note.startsWith('passed')).length;
  const right = passed - unexpectedPasses;
  const others = [...interop, ...hooks, ...packages, ...deploy];
  const failures = others.filter(({ failure }) => failure !== undefined).length;
  const tried = adapters.flatMap(({ cases }) => Object.values(cases)).filter((how) => how !== 'cannot');
  const kept = tried.filter((how) => how === 'passed').length;
  return {
    passed:
      right +
      others.length -
      failures +
      mcp.filter(isSame).length +
      kept +
      sumOf(foreign.map(({ passed: each }) => each)),
    failed:
      wrong.length +
      failures +
      mcp.filter((result) => !isSame(result)).length +
      tried.length -
      kept +
      broken.length +
      sumOf(foreign.map((each) => each.failures.length)),
    excepted: verdicts.length - wrong.length - right,
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** What a foreign suite counted, in words. */
export function countsText({ counts }: SuiteResult): string {
  return Object.entries(counts)
    .map(([what, number]) => `${number} ${what}`)
    .join(', ');
}

/** The sums in words. */
export function sumsText(results: Results): string {
  const { passed, failed, excepted } = addedUp(results);
  const parts = [`${passed} passed`, `${failed} failed`];
  if (excepted > 0) parts.push(`${excepted} did not pass, as the table of exceptions expects`);
  if (results.notRun.length > 0) parts.push(`${results.notRun.length} not run`);
  return parts.join(', ');
}

export const h2specHeader = ['requests', 'tests', 'passed', 'failed', 'skipped', 'unexpected'] as const;

export function h2specRows({ h2spec }: Results): string[][] {
  return h2spec.map(({ requests, cases, verdicts }) => {
    const number = (wanted: string) => String(cases.filter(({ outcome }) => outcome === wanted).length);
    const unexpected = verdicts.filter(({ ok }) => !ok).length;
    return [requests, String(cases.length), number('passed'), number('failed'), number('skipped'), String(unexpected)];
  });
}

export const hookHeader = ['agent', 'trial', 'result'] as const;

export function hookRows({ hooks }: Results): string[][] {
  return hooks.map(({ agent, name, failure }) => [agent, name, failure ?? 'passed']);
}

export const packageHeader = ['trial', 'result'] as const;

export function packageRows({ packages }: Results): string[][] {
  return packages.map(({ name, failure }) => [name, failure ?? 'passed']);
}

export const deployHeader = ['part', 'trial', 'result'] as const;

export function deployRows({ deploy }: Results): string[][] {
  return deploy.map(({ part, name, failure }) => [part, name, failure ?? 'passed']);
}

/** What served, each with a column. */
export function interopHeader({ interop }: Results): string[] {
  return ['case', ...new Set(interop.map(({ engine }) => engine))];
}

/** How many clients each case passed with, and with which it did not. */
export function interopRows(results: Results): string[][] {
  const [, ...engines] = interopHeader(results);
  return interopCases.map((name) => [name, ...engines.map((engine) => cellOf(results, name, engine))]);
}

function cellOf({ interop }: Results, name: string, engine: string): string {
  const found = interop.filter((result) => result.name === name && result.engine === engine);
  const wrong = found.filter(({ failure }) => failure !== undefined).map(clientOf);
  const right = `${found.length - wrong.length} of ${found.length}`;
  return wrong.length === 0 ? right : `${right}: not ${wrong.join(', ')}`;
}

function clientOf({ client, secure }: InteropResult): string {
  return `${client}${secure ? ' over TLS' : ''}`;
}

export function h2specTable(results: Results): string {
  return textTable(h2specHeader, h2specRows(results));
}

/** One line per engine and client: the cases stand above it. */
export function interopTable({ interop }: Results): string {
  const nameOf = (result: InteropResult) => `${result.engine} called by ${clientOf(result)}`;
  const rows = [...new Set(interop.map(nameOf))].map((name) => {
    const cases = interop.filter((result) => nameOf(result) === name);
    const right = cases.filter(({ failure }) => failure === undefined).length;
    return [name, String(right), String(cases.length - right)];
  });
  return textTable(['', 'passed', 'failed'], rows);
}

export const mcpHeader = ['revision', 'scenario', 'server itself', 'by the proxy', 'by the proxy, on stdio'] as const;

export function mcpRows({ mcp }: Results): string[][] {
  return mcp.map(({ revision, scenario, direct, http, stdio }) => [
    revision,
    scenario,
    ...[direct, http, stdio].map(verdictText),
  ]);
}
