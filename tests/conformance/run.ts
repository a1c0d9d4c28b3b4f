// npm run conformance -- --help
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { runClaudeExample } from './adapters/claude-example.ts';
import { findFrameworks } from './adapters/frameworks.ts';
import { runLowest, runLowestPython } from './adapters/lowest.ts';
import { pythonExamples, runPythonExample, runPythonTable, runPythonTests } from './adapters/python-adapters.ts';
import type { AdapterResult } from './adapters/run-adapters.ts';
import { runAdapters, writeAdapterResults } from './adapters/run-adapters.ts';
import { renewedPage } from './conformance-page.ts';
import { runDeploy } from './deploy/run-deploy.ts';
import type { ForeignSuite } from './foreign-suite.ts';
import { foreignSuites } from './foreign-suites.ts';
import { requestKinds } from './h2spec-exceptions.ts';
import { findH2spec } from './h2spec-tool.ts';
import { runH2spec } from './h2spec.ts';
import { forFrameworks, pythonEnvironment } from '../../scripts/python-environment.ts';
import { codingAgents, findAgent } from './hooks/coding-agents.ts';
import { runHooks } from './hooks/run-hooks.ts';
import { findGoServer } from './go-server.ts';
import { runPackages } from './packages/run-packages.ts';
import type { InteropResult } from './interop.ts';
import { interopClients, runAgainstGo, runInterop } from './interop.ts';
import type { Options } from './options.ts';
import { helpText, readOptions } from './options.ts';
import type { Results } from './results.ts';
import { isSame, mcpSuite, mcpTool, runMcpSuite, verdictText } from './mcp/mcp-suite.ts';
import { addedUp, countsText, emptyResults, sumsText, interopTable, h2specTable } from './results.ts';

const page = 'docs/conformance.md';

// Every started process ends with this one: see end-with-us.ts.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));
// Lingering sockets of clients do not keep the process alive.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  let options: Options | undefined;
  try {
    options = readOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}; --help says more\n`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(helpText);
    return 0;
  }
  const results = emptyResults();
  const { suites } = options;
  if (suites.has('h2spec')) await h2spec(results);
  if (suites.has('interop')) await interop(results);
  if (suites.has('mcp')) await mcp(results);
  if (suites.has('hooks')) await hooks(results);
  if (suites.has('packages')) await packages(results);
  if (suites.has('adapters')) await adapters(results);
  if (suites.has('deploy')) await deploy(results);
  for (const suite of foreignSuites) if (suites.has(suite.name)) await foreign(suite, results);
  const { passed, failed } = addedUp(results);
  if (results.h2spec.length > 0) say(`\n${h2specTable(results)}`);
  if (results.interop.length > 0) say(`\n${interopTable(results)}`);
  for (const what of results.notRun) say(`not run: ${what}`);
  if (options.write) writeResults(results);
  say(`\n${sumsText(results)}`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

function writeResults(results: Results): void {
  writeFileSync(page, renewedPage(readFileSync(page, 'utf8'), results));
  spawnSync('node_modules/.bin/biome', ['format', '--write', page]);
  if (results.adapters.length === 0) return;
  writeAdapterResults(results.adapters);
  spawnSync(process.execPath, ['scripts/generate-docs.ts'], { stdio: 'inherit' });
}

async function h2spec(results: Results): Promise<void> {
  for (const requests of requestKinds) {
    const tool = await findH2spec(requests, say);
    if ('missing' in tool) {
      results.notRun.push(tool.missing);
      continue;
    }
    results.versions.push([`h2spec, ${requests} requests`, tool.version]);
    const what = `h2spec, ${requests} requests`;
    say(`${what}: all tests, which takes about half a minute`);
    const result = await guarded(what, results, () => runH2spec(tool.path, requests));
    if (result === undefined) continue;
    results.h2spec.push(result);
    for (const { name, ok, note } of result.verdicts) say(`${ok ? 'ok  ' : 'FAIL'} ${requests}: ${name} (${note})`);
  }
}

async function interop(results: Results): Promise<void> {
  const note = (result: InteropResult) => {
    results.interop.push(result);
    const { client, engine, name, secure, failure } = result;
    const how = `${client} on ${engine}, ${secure ? 'TLS' : 'plain'}: ${name}`;
    say(failure === undefined ? `ok   ${how}` : `FAIL ${how} (${failure})`);
  };
  for (const client of interopClients) {
    const tool = await client.prepare(say);
    if ('missing' in tool) {
      results.notRun.push(tool.missing);
      continue;
    }
    results.versions.push([client.name, tool.version]);
    await guarded(client.name, results, () => runInterop(client, tool.path, note));
  }
  const server = await findGoServer(say);
  if ('missing' in server) results.notRun.push(server.missing);
  else await guarded('Reeve on grpc-go', results, () => runAgainstGo(server.path, note));
}

async function mcp(results: Results): Promise<void> {
  const tool = await mcpSuite(say);
  if ('missing' in tool) {
    results.notRun.push(tool.missing);
    return;
  }
  results.versions.push([mcpTool, tool.version]);
  const found = (await guarded('the suite of MCP', results, () => runMcpSuite(tool.path))) ?? [];
  results.mcp.push(...found);
  for (const result of found) {
    const { revision, scenario } = result;
    const [direct, http, stdio] = [result.direct, result.http, result.stdio].map(verdictText);
    say(
      `${isSame(result) ? 'ok  ' : 'FAIL'} ${revision} ${scenario}: ${direct}, ${http} through the proxy, ${stdio} by stdio`,
    );
  }
}

async function hooks(results: Results): Promise<void> {
  for (const agent of codingAgents) {
    const tool = await findAgent(agent, say);
    if ('missing' in tool) {
      results.notRun.push(tool.missing);
      continue;
    }
    results.versions.push([agent.package, tool.version]);
    await guarded(agent.host, results, () =>
      runHooks(agent, tool.path, (result) => {
        results.hooks.push(result);
        const { name, failure } = result;
        say(failure === undefined ? `ok   ${agent.host}: ${name}` : `FAIL ${agent.host}: ${name} (${failure})`);
      }),
    );
  }
}

async function packages(results: Results): Promise<void> {
  await guarded('the packages', results, () =>
    runPackages(say, (result) => {
      results.packages.push(result);
      const { name, failure } = result;
      say(failure === undefined ? `ok   ${name}` : `FAIL ${name} (${failure})`);
    }),
  );
}

async function adapters(results: Results): Promise<void> {
  const frameworks = await findFrameworks(say);
  if ('missing' in frameworks) results.notRun.push(frameworks.missing);
  say('the table of cases on every adapter, which takes a few minutes');
  const found = await guarded('the adapters', results, () => runAdapters(frameworks, tellAdapter));
  results.adapters.push(...(found ?? []));
  await guarded('the lowest versions', results, async () => noneFailed(await runLowest()));
  if (!('missing' in frameworks)) await guarded('the example for the Claude Agent SDK', results, runClaudeExample);
  await pythonAdapters(results);
}

async function pythonAdapters(results: Results): Promise<void> {
  say('the frameworks for Python, whose first installation takes some minutes');
  const environment = pythonEnvironment(forFrameworks);
  if ('missing' in environment) {
    results.notRun.push(`the adapters for Python, which need ${environment.missing}`);
    return;
  }
  const { python } = environment;
  const found = await guarded('the adapters for Python', results, () => runPythonTable(python, tellAdapter));
  results.adapters.push(...(found ?? []));
  await guarded('the lowest versions for Python', results, async () => noneFailed(await runLowestPython()));
  await guarded('the interrupts of Python frameworks', results, () => runPythonTests(python));
  for (const name of pythonExamples()) {
    await guarded(`the Python example ${name}`, results, () => runPythonExample(python, name));
  }
}

/** The matrix of the docs has the newest versions alone. */
function noneFailed(found: readonly AdapterResult[]): void {
  const failures = found.flatMap(({ name, cases }) =>
    Object.entries(cases).flatMap(([each, how]) => (how.startsWith('failed') ? `${name}: ${each} (${how})` : [])),
  );
  if (failures.length > 0) throw new Error(failures.join('; '));
  for (const { name, language } of found) say(`ok   ${name} (${language}) in its lowest version`);
}

function tellAdapter({ name, language, cases }: AdapterResult): void {
  for (const [each, how] of Object.entries(cases)) {
    if (how === 'passed') say(`ok   ${name} (${language}): ${each}`);
    else if (how !== 'cannot') say(`FAIL ${name} (${language}): ${each} (${how})`);
  }
}

async function deploy(results: Results): Promise<void> {
  const { versions, notRun } = results;
  const missing = (what: string) => void notRun.push(what);
  const uses = (tool: string, version: string) => void versions.push([tool, version]);
  await runDeploy({ say, uses, missing }, (result) => {
    results.deploy.push(result);
    const { part, name, failure } = result;
    say(failure === undefined ? `ok   ${part}: ${name}` : `FAIL ${part}: ${name} (${failure})`);
  });
}

async function foreign(suite: ForeignSuite, results: Results): Promise<void> {
  const tool = await suite.prepare(say);
  if ('missing' in tool) {
    results.notRun.push(tool.missing);
    return;
  }
  results.versions.push([suite.name, tool.version]);
  const found = await guarded(suite.name, results, () => suite.run(tool.path, say));
  if (found === undefined) return;
  results.foreign.set(suite.name, found);
  for (const failure of found.failures) say(`FAIL ${suite.name}: ${failure}`);
  say(`ok   ${suite.name}: ${countsText(found)}`);
}

/** A part that cannot go on, such as one whose server has ended, is a failure like any other. */
async function guarded<Result>(
  what: string,
  results: Results,
  run: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await run();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    results.broken.push(`${what}: ${why}`);
    say(`FAIL ${what}: ${why}`);
    return undefined;
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
