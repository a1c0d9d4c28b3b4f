import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Action } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import { claudeCode } from '../../../packages/cli/src/hook/hosts/claude-code.ts';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { HookGateway } from '../hooks/hook-gateway.ts';
import { findGtfobins, linesIn } from './gtfobins.ts';
import { knownPasses } from './known-passes.ts';

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
  prepare: findGtfobins,
  async run(path, say) {
    const snippets = snippetsIn(path);
    say(`gtfobins: ${snippets.length} command lines`);
    return await judged(snippets);
  },
};

/** The lines whose end is one of these, as they are if the paths that they leave open are a person's. */
function snippetsIn(path: string): readonly Snippet[] {
  const kinds = new Map<string, Snippet['kind']>([
    ['shell', 'runs'],
    ['command', 'runs'],
    ['file-read', 'reads'],
  ]);
  return linesIn(path).flatMap(({ program, end, code }) => {
    const kind = kinds.get(end);
    return kind === undefined ? [] : [{ program, kind, code: filled(code) }];
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
