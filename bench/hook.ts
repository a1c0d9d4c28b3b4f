import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { fixed, textTable } from './table.ts';

export interface HookRow {
  readonly what: string;
  readonly milliseconds: Spread;
}

const key = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';
const warmups = 3;
/** With the gateway on the same machine. */
const promisedMs = 150;

const commands = {
  'one command': 'npm test',
  'a line of ten': Array.from({ length: 10 }, (_, at) => `step-${at} --now`).join(' && '),
};

/** How long a hook takes from start to end, in turn with a Node that does nothing. */
export async function measureHook(rounds: number, tell: (line: string) => void): Promise<HookRow[]> {
  const home = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  mkdirSync(join(home, 'policies'));
  writeFileSync(join(home, 'policies', 'all.yaml'), 'name: all\ndefault: allow\n');
  const args = ['serve', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', home];
  const env = { ...process.env, SVC_BOOTSTRAP_API_KEY: key };
  const gateway = spawn('node_modules/.bin/reeve', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => gateway.kill('SIGKILL'));
  try {
    const [line] = await once(createInterface({ input: gateway.stdout }), 'line');
    const { grpc } = JSON.parse(String(line)) as { grpc: string };
    tell(`${rounds} rounds …`);
    const samples = { node: [] as number[], before: [] as number[][], after: [] as number[] };
    const hookEnv = {
      ...process.env,
      HOME: home,
      REEVE_GRPC_ADDR: grpc,
      REEVE_API_KEY: key,
      REEVE_AGENT: 'acme/core/ada',
    };
    const hook = (name: string, id: string, command: string) =>
      time(['node_modules/.bin/reeve', 'hook', 'claude-code'], hookEnv, JSON.stringify(event(name, id, command)));
    for (let round = -warmups; round < rounds; round++) {
      const bare = time(['node_modules/.bin/node', '-e', '0'], hookEnv, '');
      const before = Object.values(commands).map((command, at) =>
        hook('PreToolUse', `t${round + warmups}-${at}`, command),
      );
      const after = hook('PostToolUse', `t${round + warmups}-0`, commands['one command']);
      if (round < 0) continue;
      samples.node.push(bare);
      samples.before.push(before);
      samples.after.push(after);
    }
    const before = Object.keys(commands).map((what, at) => ({
      what: `before a tool: ${what}`,
      milliseconds: spreadOf(samples.before.map((each) => each[at] ?? Number.NaN)),
    }));
    return [
      { what: 'node -e 0', milliseconds: spreadOf(samples.node) },
      ...before,
      { what: 'after a tool', milliseconds: spreadOf(samples.after) },
    ];
  } finally {
    gateway.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function event(name: string, id: string, command: string) {
  const common = { session_id: 'bench', cwd: '/tmp', hook_event_name: name };
  return { ...common, tool_name: 'Bash', tool_use_id: id, tool_input: { command } };
}

function time([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv, input: string): number {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, { env, input, encoding: 'utf8' });
  const took = performance.now() - started;
  if (status !== 0 || stdout.includes('deny'))
    throw new Error(`${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return took;
}

export function hookTable(rows: readonly HookRow[]): string {
  const body = rows.map(({ what, milliseconds }) => [
    what,
    `${fixed(milliseconds.median)} ms`,
    `${fixed(milliseconds.least)} ms`,
    what.startsWith('node') ? '' : milliseconds.median <= promisedMs ? 'kept' : 'NOT KEPT',
  ]);
  return textTable(['hook', 'median', 'least', `at most ${promisedMs} ms`], body);
}
