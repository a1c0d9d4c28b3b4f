import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { endWithUs } from '../../harness/end-with-us.ts';
import type { CodingAgent } from './coding-agents.ts';
import { HookGateway } from './hook-gateway.ts';
import { ScriptedModel } from './scripted-model.ts';

/** What one trial of one agent showed. */
export interface HookResult {
  readonly agent: string;
  readonly name: string;
  readonly failure: string | undefined;
}

const turnMs = 120_000;
const reeve = resolve('node_modules/.bin/reeve');
/** Nobody listens there. */
const nobody = '127.0.0.1:1';

interface Turn {
  readonly didRun: (file: string) => boolean;
  /** What the model got to read as the result of its command. */
  readonly results: readonly string[];
}

/** Lets a coding agent do turns with a scripted model, under its installed hooks. */
export async function runHooks(agent: CodingAgent, path: string, tell: (result: HookResult) => void): Promise<void> {
  await using gateway = await HookGateway.start();
  const trial = async (name: string, work: () => Promise<string | undefined>) => {
    const failure = await work().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
    tell({ agent: agent.host, name, failure });
  };
  const turn = (command: string, env = gateway.env(agent.host)) => oneTurn(agent, path, command, env);

  await trial('an allowed command ran', async () => {
    const { didRun, results } = await turn('echo a | cat > /dev/null && touch allowed.txt');
    return didRun('allowed.txt') ? undefined : `it did not: ${results.join(' ')}`;
  });
  await trial('a denied command did not run, nor the rest of its line, and the model read why', async () => {
    const { didRun, results } = await turn("touch other.txt; sh -c 'touch denied.txt'");
    if (didRun('denied.txt') || didRun('other.txt')) return 'it ran';
    return results.join(' ').includes('Denied by policy: touch denied.txt')
      ? undefined
      : `it read ${results.join(' ')}`;
  });
  await trial('a held command ran after the approval', async () => {
    const ended = new AbortController();
    const approval = gateway.approve(ended.signal);
    const { didRun, results } = await turn('touch held.txt');
    ended.abort(new Error('nobody was asked'));
    await approval;
    return didRun('held.txt') ? undefined : `it did not: ${results.join(' ')}`;
  });
  const told = 'write to ada@example.com';
  if (agent.host === 'codex') {
    await trial('a command whose output would be judged did not run', async () => {
      const { didRun, results } = await turn(`printf '${told}' > allowed.txt`);
      if (didRun('allowed.txt')) return 'it ran';
      return results.join(' ').includes('must be judged before a model reads it') ? undefined : results.join(' ');
    });
  } else {
    await trial('the model read the masked output', async () => {
      const { results } = await turn(`printf '${told}'`);
      const read = results.join(' ');
      return read.includes('write to ') && !read.includes('example.com') ? undefined : `it read ${read}`;
    });
    await trial('the model did not read what a failed command printed', async () => {
      const { results } = await turn(`printf '${told}'; touch allowed.txt; exit 3`);
      return results.join(' ').includes('example.com') ? `it read ${results.join(' ')}` : undefined;
    });
  }
  await trial('without the gateway nothing ran', async () => {
    const { didRun, results } = await turn('touch allowed.txt', {
      ...gateway.env(agent.host),
      REEVE_GRPC_ADDR: nobody,
    });
    if (didRun('allowed.txt')) return 'it ran';
    return results.join(' ').includes('Reeve is not reachable') ? undefined : `it read ${results.join(' ')}`;
  });
  await trial('no operation stayed open', async () => {
    const open = await gateway.open();
    return open.length === 0 ? undefined : open.join(', ');
  });
}

async function oneTurn(agent: CodingAgent, path: string, command: string, env: Record<string, string>): Promise<Turn> {
  const home = mkdtempSync(join(tmpdir(), 'reeve-host-'));
  try {
    await using model = await ScriptedModel.start(command);
    const work = join(home, 'work');
    mkdirSync(work);
    mkdirSync(join(home, '.codex'));
    const { args, env: own } = agent.turn(model.url);
    const surroundings = { PATH: process.env['PATH'], HOME: home, CODEX_HOME: join(home, '.codex'), ...env, ...own };
    const installed = spawnSync(reeve, ['hook', 'install', agent.host], {
      env: surroundings,
      cwd: work,
      encoding: 'utf8',
    });
    if (installed.status !== 0) throw new Error(`hook install: ${installed.stderr}`);
    const child = spawn(path, args, {
      env: surroundings,
      cwd: work,
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: turnMs,
    });
    endWithUs(child);
    await once(child, 'close');
    const files = new Set(
      ['allowed.txt', 'denied.txt', 'held.txt', 'other.txt'].filter((file) => existsSync(join(work, file))),
    );
    return { didRun: (file) => files.has(file), results: [...model.results] };
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}
