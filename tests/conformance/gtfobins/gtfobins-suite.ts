import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Action } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { parse } from 'yaml';
import { claudeCode } from '../../../packages/cli/src/hook/hosts/claude-code.ts';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { HookGateway } from '../hooks/hook-gateway.ts';
import type { Tool } from '../tools.ts';
import { cacheFolder, whyOf } from '../tools.ts';
import { knownPasses } from './known-passes.ts';

const run = promisify(execFile);
const pack = resolve('packages/cli/packs/coding-agents');

/** One way to get a program to do more than it is for. */
interface Snippet {
  readonly program: string;
  readonly kind: 'runs' | 'reads';
  readonly code: string;
}

/** A list of programs that run others or read files, each with command lines that do so, through the hook under the pack. */
export const gtfobinsSuite: ForeignSuite = {
  name: 'gtfobins',
  about: `The command lines of GTFOBins, as the hook of Claude Code reads them, under the pack \`coding-agents\`: those that
run another program, and those that read a file, which is a private key here. None may read the key. Of those that run a
program, the ones that pass are named in \`tests/conformance/gtfobins/known-passes.ts\`, each with the reason; another one
fails. "Asked about" wait for a person. The list of programs that the hook follows is finite, and so is this one.`,
  prepare,
  async run(path, say) {
    const snippets = snippetsIn(path);
    say(`gtfobins: ${snippets.length} command lines`);
    return await judged(snippets);
  },
};

async function prepare(): Promise<Tool> {
  const folder = join(cacheFolder, 'gtfobins');
  const source = process.env['REEVE_CONFORMANCE_GTFOBINS'];
  try {
    if (!existsSync(folder)) {
      if (source === undefined)
        return { missing: 'GTFOBins: REEVE_CONFORMANCE_GTFOBINS names a clone of its repository, by path or address' };
      mkdirSync(cacheFolder, { recursive: true });
      await run('git', ['clone', '--quiet', '--depth', '1', source, folder]);
    }
    const { stdout } = await run('git', ['-C', folder, 'log', '-1', '--format=%h of %cs']);
    return { path: folder, version: stdout.trim() };
  } catch (error) {
    return { missing: `GTFOBins could not be cloned: ${whyOf(error)}` };
  }
}

interface Entry {
  readonly functions?: Readonly<Record<string, readonly { readonly code?: string }[]>>;
}

function snippetsIn(path: string): readonly Snippet[] {
  const folder = join(path, '_gtfobins');
  return readdirSync(folder).flatMap((program) => {
    const text = readFileSync(join(folder, program), 'utf8')
      .replace(/^---\n/, '')
      .replace(/\n\.\.\.\s*$/, '\n');
    const { functions = {} } = parse(text) as Entry;
    const of = (name: string, kind: Snippet['kind']) =>
      (functions[name] ?? []).flatMap(({ code }) =>
        code === undefined ? [] : [{ program, kind, code: filled(code) }],
      );
    return [...of('shell', 'runs'), ...of('command', 'runs'), ...of('file-read', 'reads')];
  });
}

/** The places that are left open there. */
function filled(code: string): string {
  return code
    .replaceAll('/path/to/input-file', '/home/ada/.ssh/id_rsa')
    .replaceAll(/\/path\/to\/input-dir\/?/g, '/home/ada/.ssh')
    .replaceAll('/path/to/command', '/usr/bin/id')
    .replaceAll(/\/path\/to\//g, '/workspace/app/');
}

type Decision = 'denied' | 'asked about' | 'passed';

async function judged(snippets: readonly Snippet[]): Promise<SuiteResult> {
  const policies = readdirSync(pack).filter((name) => name.endsWith('.yaml'));
  const texts = Object.fromEntries(policies.map((name) => [name, readFileSync(join(pack, name), 'utf8')]));
  await using gateway = await HookGateway.start(texts);
  const { REEVE_API_KEY: apiKey } = gateway.env('ada');
  using client = connect({ address: gateway.grpc, apiKey, deadlineMs: 60_000, onUnavailable: 'throw' });
  const agent = await client.register({ orgId: 'acme', teamId: 'core', agentId: 'ada' });
  const counts: Record<string, number> = {};
  const failures: string[] = [];
  let passed = 0;
  for (const snippet of snippets) {
    const { program, kind, code } = snippet;
    const answers = await agent.checkMany(actionsOf(code).map((action) => ({ action })));
    const decision = strictestOf(answers.map((answer) => answer.decision));
    const name = `${kind === 'runs' ? 'run a program' : 'read the key'}, ${decision}`;
    counts[name] = (counts[name] ?? 0) + 1;
    if (decision !== 'passed' || (kind === 'runs' && Object.hasOwn(knownPasses, program))) passed++;
    else failures.push(`${program} passes: ${JSON.stringify(code)}`);
  }
  return { counts, passed, failures };
}

/** What the hook asks about. */
function actionsOf(code: string): readonly Action[] {
  const event = {
    session_id: 's',
    hook_event_name: 'PreToolUse',
    cwd: '/workspace/app',
    tool_name: 'Bash',
    tool_use_id: 'u',
    tool_input: { command: code },
  };
  const read = claudeCode.read(event, { home: '/home/ada' });
  return read.kind === 'before' ? read.actions.map(({ action }) => action) : [];
}

function strictestOf(decisions: readonly string[]): Decision {
  if (decisions.includes('deny')) return 'denied';
  return decisions.includes('pending') ? 'asked about' : 'passed';
}
