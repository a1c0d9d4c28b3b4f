import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Listening } from '../../doors/mcp-processes.ts';
import { serveServers, startScript } from '../../doors/mcp-processes.ts';
import { McpWorld } from '../../doors/mcp-world.ts';
import { allowAll } from '../../harness/gateway.ts';
import type { Tool } from '../tools.ts';
import { cacheFolder, whyOf } from '../tools.ts';

const run = promisify(execFile);
const suite = '@modelcontextprotocol/conformance';

/** How a scenario ended: at the server itself, and through the proxy to the same server by HTTP and by stdio. */
export interface McpResult {
  readonly scenario: string;
  readonly direct: string;
  readonly http: string;
  readonly stdio: string;
}

/** The suite of the MCP project, installed once. */
export async function mcpSuite(say: (line: string) => void): Promise<Tool> {
  const folder = join(cacheFolder, 'mcp');
  const path = join(folder, 'node_modules/.bin/conformance');
  try {
    if (!existsSync(path)) {
      say(`installing ${suite}`);
      mkdirSync(folder, { recursive: true });
      await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `${suite}@latest`]);
    }
    const about = readFileSync(join(folder, 'node_modules', suite, 'package.json'), 'utf8');
    return { path, version: (JSON.parse(about) as { version: string }).version };
  } catch (error) {
    return { missing: `${suite} could not be installed: ${whyOf(error)}` };
  }
}

const server = resolve('tests/conformance/mcp/reference-server.mjs');
const door = resolve('tests/conformance/mcp/with-token.mjs');

/** Runs every scenario three times. */
export async function runMcpSuite(path: string): Promise<McpResult[]> {
  await using world = await McpWorld.start(allowAll);
  await using reference = startScript(server);
  const url = await reference.address();
  await using proxy = serveServers(world, {
    http: { url },
    stdio: { command: process.execPath, args: [server, '--stdio'] },
  });
  const base = await proxy.address();
  await using http = startScript(door, [`${base}/mcp/http`, world.agent.token]);
  await using stdio = startScript(door, [`${base}/mcp/stdio`, world.agent.token]);
  const direct = await verdicts(path, reference);
  const [byHttp, byStdio] = [await verdicts(path, http), await verdicts(path, stdio)];
  return [...direct].map(([scenario, verdict]) => ({
    scenario,
    direct: verdict,
    http: byHttp.get(scenario) ?? 'not run',
    stdio: byStdio.get(scenario) ?? 'not run',
  }));
}

async function verdicts(path: string, at: Listening): Promise<Map<string, string>> {
  const args = ['server', '--url', await at.address(), '--suite', 'all'];
  // A scenario that fails makes the exit code 1. The lines say which.
  const { stdout } = await run(path, args, { maxBuffer: 64 * 1024 * 1024 }).catch((error: { stdout: string }) => error);
  const lines = stdout.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed(?:, (\d+) warnings?)?/gm);
  return new Map(
    [...lines].map(([, scenario = '', passed, failed, warnings = '0']) => {
      const end = failed === '0' ? 'passed' : `${failed} of ${Number(passed) + Number(failed)} failed`;
      return [scenario, warnings === '0' ? end : `${end}, ${warnings} warnings`];
    }),
  );
}

/** Whether the proxy changes nothing. What a server on stdio cannot do is no fault of the proxy. */
export function isSame({ direct, http }: McpResult): boolean {
  return direct === http;
}
