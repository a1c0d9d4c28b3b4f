import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { McpWorld } from '../../doors/mcp-world.ts';
import { allowAll } from '../../harness/gateway.ts';
import { reeveCommand } from '../../harness/reeve-command.ts';
import type { ForeignSuite } from '../foreign-suite.ts';
import type { Check, Verdict } from './mcp-suite.ts';
import { mcpSuite, mcpTool, verdictOf, verdictText } from './mcp-suite.ts';

const run = promisify(execFile);
const client = resolve('tests/conformance/mcp/auth-client.mjs');
const timeoutMs = 60_000;

/** How a scenario for clients ended with Reeve as the client. */
interface McpAuthResult {
  readonly scenario: string;
  readonly revision: string;
  readonly verdict: Verdict;
  /** Why it cannot apply. */
  readonly exempt: string | undefined;
}

/** What Reeve does not do as a client, and why. */
const exempt: Readonly<Record<string, string>> = {
  'auth/2025-03-26-oauth-endpoint-fallback':
    'guesses the endpoints of a server that describes nothing; Reeve sends codes and tokens only to endpoints that the issuer has named',
  'auth/client-credentials-jwt': 'the client proves itself with a private key; Reeve has `client_secret_env` for this',
  'auth/wif-jwt-bearer':
    'the client proves itself with the token of a workload; Reeve has `client_secret_env` for this',
  'auth/dpop': 'tokens bound to a key; Reeve takes and sends bearer tokens, and refuses others',
  'auth/dpop-nonce': 'tokens bound to a key; Reeve takes and sends bearer tokens, and refuses others',
};

/** The scenarios of the MCP project for clients of OAuth, with `reeve mcp login` and `reeve mcp run` as the client. */
export const mcpAuthSuite: ForeignSuite = {
  name: 'mcp-auth',
  about: `The scenarios \`auth/…\` of the suite of the MCP project, ${mcpTool}, are servers and authorization servers that a client
must get along with, or must not. Here the client is \`reeve mcp run\`, after \`reeve mcp login\` where a person logs in: a script
opens the address that the command shows, and runs the command again when an answer says so. Each scenario runs at the newest
revision that has it, and none of its checks may fail or warn. These cannot apply:

${Object.entries(exempt)
  .map(([scenario, why]) => `- \`${scenario}\`: ${why}.`)
  .join('\n')}`,
  prepare: mcpSuite,
  run: async (path, say) => {
    const found = await runMcpAuthSuite(path);
    for (const result of found) {
      say(`${isAsExpected(result) ? 'ok  ' : 'FAIL'} ${result.scenario}: ${verdictText(result.verdict)}`);
    }
    const exempted = found.filter(({ exempt: why }) => why !== undefined);
    const right = found.filter((result) => result.exempt === undefined && isAsExpected(result));
    const wrong = found.filter((result) => !isAsExpected(result));
    return {
      counts: { 'scenarios that pass': right.length, 'scenarios that cannot apply': exempted.length },
      passed: right.length,
      failures: wrong.map(({ scenario, verdict }) => `${scenario}: ${verdictText(verdict)}`),
    };
  },
};

/** Runs every `auth/…` scenario for clients, each at the newest revision that has it. */
async function runMcpAuthSuite(path: string): Promise<McpAuthResult[]> {
  const program = join(path, 'dist/index.js');
  const { stdout } = await run(process.execPath, [program, 'list', '--client']);
  const listed = [...stdout.matchAll(/- (auth\/\S+) \[([^\]]+)\]/g)];
  await using world = await McpWorld.start(allowAll);
  const found: McpAuthResult[] = [];
  for (const [, scenario = '', revisions = ''] of listed) {
    const revision = revisions.split(',').at(-1) ?? '';
    const checks = await checksOf(program, scenario, revision, world);
    found.push({ scenario, revision, verdict: verdictOf(checks), exempt: exempt[scenario] });
  }
  return found;
}

async function checksOf(program: string, scenario: string, revision: string, world: McpWorld): Promise<Check[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-mcp-auth-'));
  const command = `${process.execPath} ${client}`;
  const wanted = revision === 'extension' ? [] : ['--spec-version', revision];
  const limits = ['--timeout', String(timeoutMs), '--output-dir', folder];
  const args = [program, 'client', '--command', command, '--scenario', scenario, ...wanted, ...limits];
  const env = { ...process.env, ...world.env, REEVE_SUITE_COMMAND: JSON.stringify(reeveCommand) };
  try {
    await run(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 }).catch(() => undefined);
    const written = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const file = written.find((name) => name.endsWith('checks.json'));
    if (file === undefined) return [{ id: 'the scenario wrote no checks', status: 'FAILURE' }];
    return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Check[];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a scenario is as it should be: nothing failed and nothing was warned of, or it cannot apply. */
function isAsExpected({ verdict: { failed, warned, passed }, exempt: why }: McpAuthResult): boolean {
  return why !== undefined || (failed.length === 0 && warned.length === 0 && passed > 0);
}
