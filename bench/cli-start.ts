import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { fixed, ratio, textTable } from './table.ts';

export interface CliStartRow {
  readonly command: string;
  readonly milliseconds: Spread;
  /** The ratio to `node -e 0` of the same round. */
  readonly overNode: Spread;
}

const node = ['node_modules/.bin/node', '-e', '0'];
const commands = [['whoami'], ['--help'], ['ops', '--help'], ['context', 'list']];
/** The commands of the promise, and the most they may take relative to Node's own start. */
const promised = new Set(['reeve whoami', 'reeve --help']);
const promisedRatio = 2;
const warmups = 3;

/** How long commands that call no server take from start to end, in turn with a Node that does nothing. */
export function measureCliStart(rounds: number, tell: (line: string) => void): CliStartRow[] {
  const home = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  try {
    logIn(home);
    tell(`${rounds} rounds …`);
    const lines = commands.map((args) => ['node_modules/.bin/reeve', ...args]);
    for (let round = 0; round < warmups; round++) for (const line of [node, ...lines]) time(line, home);
    const samples = Array.from({ length: rounds }, () => {
      const bare = time(node, home);
      return { bare, each: lines.map((line) => time(line, home)) };
    });
    const rowOf = (command: string, took: (sample: (typeof samples)[number]) => number): CliStartRow => ({
      command,
      milliseconds: spreadOf(samples.map(took)),
      overNode: spreadOf(samples.map((sample) => took(sample) / sample.bare)),
    });
    return [
      rowOf('node -e 0', ({ bare }) => bare),
      ...commands.map((args, at) => rowOf(`reeve ${args.join(' ')}`, ({ each }) => each[at] ?? Number.NaN)),
    ];
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Writes a session, so that `whoami` has something to show. */
function logIn(home: string): void {
  const session = `token: a.b.c\n    expires_at: 4000000000\n    scopes:\n      - read\n    source_key: key\n    api_url: "http://127.0.0.1:8080"`;
  mkdirSync(join(home, '.reeve'), { mode: 0o700 });
  writeFileSync(join(home, '.reeve', 'credentials.yaml'), `sessions:\n  prod:\n    ${session}\n`, { mode: 0o600 });
  const config = 'current_context: prod\ncontexts:\n  prod:\n    api_url: "http://127.0.0.1:8080"\n';
  writeFileSync(join(home, '.reeve', 'config.yaml'), config, { mode: 0o600 });
}

function time([program = '', ...args]: readonly string[], home: string): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(program, args, { env: { ...process.env, HOME: home }, encoding: 'utf8' });
  const took = performance.now() - started;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return took;
}

export function cliStartTable(rows: readonly CliStartRow[]): string {
  const body = rows.map(({ command, milliseconds, overNode }) => [
    command,
    `${fixed(milliseconds.median)} ms`,
    `${fixed(milliseconds.least)} ms`,
    ratio(overNode),
    promised.has(command) ? (overNode.median <= promisedRatio ? 'kept' : 'NOT KEPT') : '',
  ]);
  return textTable(['command', 'median', 'least', 'over node -e 0', `at most ${promisedRatio}×`], body);
}
