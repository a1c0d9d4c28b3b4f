import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Listening } from '../../doors/mcp-processes.ts';
import { serveFile, startScript } from '../../doors/mcp-processes.ts';
import { McpWorld } from '../../doors/mcp-world.ts';
import { allowAll, bootstrapKey } from '../../harness/gateway.ts';
import { TokenIssuer } from '../../harness/token-issuer.ts';
import { npmTool } from '../foreign-suite.ts';
import type { Tool } from '../tools.ts';

const run = promisify(execFile);
export const mcpTool = '@modelcontextprotocol/conformance';
const version = '0.2.0-alpha.12';

/** How a scenario ended: at the server itself, and through the proxy to the same server by HTTP and by stdio. */
export interface McpResult {
  readonly revision: string;
  readonly scenario: string;
  readonly direct: Verdict;
  readonly http: Verdict | undefined;
  readonly stdio: Verdict | undefined;
}

/** The reference servers, each of one family of the protocol, with the revision that it is held against. */
const servers = {
  '2025-11-25': resolve('tests/conformance/mcp/reference-server.mjs'),
  '2026-07-28': resolve('tests/conformance/mcp/stateless-server.mjs'),
};
const door = resolve('tests/conformance/mcp/with-token.mjs');

/** The suite of the MCP project, installed once. */
export function mcpSuite(say: (line: string) => void): Promise<Tool> {
  return npmTool(mcpTool, version, say);
}

/** Runs every scenario of each revision three times. */
export async function runMcpSuite(path: string): Promise<McpResult[]> {
  const found: McpResult[] = [];
  for (const [revision, server] of Object.entries(servers)) found.push(...(await runRevision(path, revision, server)));
  return found;
}

async function runRevision(path: string, revision: string, server: string): Promise<McpResult[]> {
  await using world = await McpWorld.start(allowAll);
  await using reference = startScript(server);
  await using issuer = await TokenIssuer.start();
  const oauth = { issuer: issuer.url, agents: [{ match: { sub: 'suite' }, agent: '-/-/suite' }] };
  const servers = {
    http: { url: await reference.address() },
    stdio: { command: process.execPath, args: [server, '--stdio'] },
  };
  const env = { HOME: world.folder, REEVE_API_KEY: bootstrapKey };
  await using proxy = serveFile(world, { oauth, servers }, [], env);
  const base = await proxy.address();
  const accessToken = await issuer.sign({ sub: 'suite', aud: `${base}/mcp/http` });
  await using http = startScript(door, [`${base}/mcp/http`, accessToken]);
  await using stdio = startScript(door, [`${base}/mcp/stdio`, world.agent.token]);
  const direct = await verdicts(path, revision, reference);
  const [byHttp, byStdio] = [await verdicts(path, revision, http), await verdicts(path, revision, stdio)];
  return [...direct].map(([scenario, verdict]) => ({
    revision,
    scenario,
    direct: verdict,
    http: byHttp.get(scenario),
    stdio: byStdio.get(scenario),
  }));
}

/** What the suite writes of each check. */
export interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
}

async function verdicts(path: string, revision: string, at: Listening): Promise<Map<string, Verdict>> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-mcp-suite-'));
  const wanted = ['--suite', 'all', '--spec-version', revision, '--output-dir', folder];
  const args = [join(path, 'dist/index.js'), 'server', '--url', await at.address(), ...wanted];
  try {
    // A scenario that fails makes the exit code 1. What it wrote says which.
    await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 }).catch(() => undefined);
    const scenarios = readdirSync(folder).map((name) => ({ name, at: /-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(name) }));
    const inOrder = scenarios.toSorted((one, other) => (one.at?.[0] ?? '').localeCompare(other.at?.[0] ?? ''));
    return new Map(
      inOrder.map(({ name, at: time }) => {
        const checks = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Check[];
        return [name.slice('server-'.length, time?.index), verdictOf(checks)];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What went wrong in a scenario, by the names of its checks. */
export interface Verdict {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly warned: readonly string[];
}

export function verdictOf(checks: readonly Check[]): Verdict {
  const of = (wanted: Check['status']) => checks.filter(({ status }) => status === wanted).map(({ id }) => id);
  return { passed: of('SUCCESS').length, failed: of('FAILURE'), warned: of('WARNING') };
}

export function verdictText(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'not run';
  const { passed, failed, warned } = verdict;
  const faults = [
    ...(failed.length === 0 ? [] : [`${failed.length} failed (${failed.join(', ')})`]),
    ...(warned.length === 0 ? [] : [`${warned.length} warned of (${warned.join(', ')})`]),
  ];
  return [passed === 0 && faults.length === 0 ? 'does not apply' : `${passed} passed`, ...faults].join(', ');
}

/**
 * Whether the proxy changes nothing. A server on stdio has no streams of its own, so that checks about these do not
 * apply; none may fail or warn that does not at the server.
 */
export function isSame({ direct, http, stdio }: McpResult): boolean {
  const faultsOf = (verdict: Verdict | undefined) =>
    JSON.stringify(verdict === undefined ? 'not run' : [verdict.failed, verdict.warned]);
  return verdictText(direct) === verdictText(http) && faultsOf(direct) === faultsOf(stdio);
}
