import { readFileSync, writeFileSync } from 'node:fs';
import type { Failures } from '../../adapters/run-table.ts';
import { runTable } from '../../adapters/run-table.ts';
import type { Subject } from '../../adapters/scene.ts';
import { ai } from '../../adapters/subjects/ai.ts';
import { langchain } from '../../adapters/subjects/langchain.ts';
import { mcp, mcpServer } from '../../adapters/subjects/mcp.ts';
import { openaiAgents } from '../../adapters/subjects/openai-agents.ts';
import { sdk } from '../../adapters/subjects/sdk.ts';
import type { Table } from '../../adapters/table.ts';
import { readTable } from '../../adapters/table.ts';
import type { ClaudeAgentSdk } from './claude-agent.ts';
import { claudePermissions, claudeTools } from './claude-agent.ts';
import type { Frameworks } from './frameworks.ts';
import { versionOf } from './frameworks.ts';
import type { LangChainAgents } from './langgraph.ts';
import { langGraph } from './langgraph.ts';

/** How one subject did in the table, in any language: see the head of tests/adapters/cases.yaml. */
export interface AdapterResult {
  readonly name: string;
  readonly language: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly cases: Readonly<Record<string, string>>;
}

export const resultsFile = 'docs/adapters-results.json';

/** Frameworks that start a process for each run take turns. */
const heavyAtOnce = 3;

/** Runs the table on all adapters for TypeScript. Without the heavy frameworks, on those that the repository installs. */
export async function runAdapters(
  frameworks: Frameworks,
  tell: (result: AdapterResult) => void,
): Promise<readonly AdapterResult[]> {
  const table = readTable();
  const light: readonly Subject[] = [sdk, ai, langchain, openaiAgents, mcp, mcpServer];
  const results = resultsOf(table, await runTable(table, light));
  if (!('missing' in frameworks)) {
    const claude = (await frameworks.load('@anthropic-ai/claude-agent-sdk')) as ClaudeAgentSdk;
    const agents = (await frameworks.load('langchain')) as LangChainAgents;
    const heavy = [langGraph(agents), claudeTools(claude), claudePermissions(claude)];
    results.push(...resultsOf(table, await runTable(table, heavy, heavyAtOnce)));
  }
  for (const result of results) tell(result);
  return results;
}

function resultsOf(table: Table, failures: Failures): AdapterResult[] {
  return [...failures].map(([{ name }, found]) => {
    const spec = table.adapters.find((each) => each.name === name && each.language === 'typescript');
    const cases = table.cases.map((each): [string, string] => {
      if (spec?.cannot?.[each.name] !== undefined) return [each.name, 'cannot'];
      const failure = found.get(each.name);
      return [each.name, failure === undefined ? 'passed' : `failed: ${failure}`];
    });
    return {
      name,
      language: 'typescript',
      versions: Object.fromEntries((spec?.packages ?? []).map((each) => [each, versionOf(each)])),
      cases: Object.fromEntries(cases),
    };
  });
}

/** Keeps the results of what was run, beside those of what was not. */
export function writeAdapterResults(results: readonly AdapterResult[]): void {
  const isRun = (kept: AdapterResult) =>
    results.some(({ name, language }) => name === kept.name && language === kept.language);
  const order = readTable().adapters.map(({ name, language }) => `${language}/${name}`);
  const all = [...readAdapterResults().filter((kept) => !isRun(kept)), ...results];
  const placed = all.sort((one, other) => order.indexOf(keyOf(one)) - order.indexOf(keyOf(other)));
  writeFileSync(resultsFile, `${JSON.stringify(placed, undefined, 2)}\n`);
}

export function readAdapterResults(): readonly AdapterResult[] {
  return JSON.parse(readFileSync(resultsFile, 'utf8')) as readonly AdapterResult[];
}

function keyOf({ language, name }: AdapterResult): string {
  return `${language}/${name}`;
}
