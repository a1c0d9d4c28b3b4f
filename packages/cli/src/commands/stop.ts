import { randomUUID } from 'node:crypto';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { UsageError } from '../cli-error.ts';
import { agentPath } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, flag, number, text } from '../command-line/values.ts';
import { followControl } from '../control/follow-control.ts';
import { outcomeOf, outcomeText } from '../control/outcome.ts';
import { scopeArguments, scopeText } from '../control/tenant-scope.ts';
import { connect } from '../http/connect.ts';
import { UnreachableError } from '../http/describe-failure.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import type { Shell } from '../shell.ts';
import { confirm } from '../terminal/ask.ts';
import { idOfPart } from '@reeve/contract/names';

/** A scope with very many operations takes a while. */
const controlTimeoutMs = 300_000;

type Action = 'pause' | 'resume' | 'terminate';
type Preview = RouteOutput<Routes['controlScope']>;
type Scope = { org_id?: string; team_id?: string; agent_id?: string; run_id?: string; all?: true };

export const stopCommand = defineCommand({
  details: [
    'Pauses, resumes or terminates every operation in flight within a scope. Shows first how many that would be, asks, and then follows the receipts until every agent has confirmed. Ends with 0 if all are effective, with 1 if some are not, with 4 if there is no agent in the scope.',
    'New operations of the scope may begin right after. To hold an org or a team until you resume it, use "reeve suspend".',
    'With --run, it also holds for what comes after: further checks in that run are denied, also after a restart, until --action resume lifts it. This takes a credential at least as wide as the one that stopped it.',
    'Needs the scope write; a whole org, and --all, need admin.',
    'Data: {action, scope, matched, changed, skipped, control_id, counts, receipts}: counts by status of the receipts, and the receipts that are not effective. With --dry-run: {action, scope, matched, changed, skipped, control_id: null}.',
  ],
  args: {},
  options: {
    all: flag('Everything in flight, of every tenant that the credential may see.'),
    org: text('ORG', 'Operations of this org.', { aliases: ['org-id'] }),
    team: text('TEAM', 'Of this team.', { aliases: ['team-id'] }),
    agent: text('AGENT', 'Of this agent: its name, or ORG/TEAM/AGENT.', { aliases: ['agent-id'], completes: 'agent' }),
    run: text('RUN', 'Of this run.', { aliases: ['run-id'] }),
    action: choice(
      ['pause', 'resume', 'terminate'],
      'What to do with them. Default: pause, which can be taken back by resume.',
    ),
    reason: text('TEXT', 'Why; the audit log keeps it, and agents are told.'),
    dryRun: flag('Only say how many it would be.'),
    yes: flag('Do not ask.', { short: 'y' }),
    wait: number('SECONDS', 'How long to follow the receipts; 0 does not wait. Default: 60.', { min: 0, max: 86_400 }),
  },
  examples: [
    ['reeve stop --org acme --reason "incident 42"', 'pause all of an org, after asking'],
    ['reeve stop --org acme --action resume --yes', 'and let it go on'],
    ['reeve stop --agent acme/support/helper --action terminate', 'end all of one agent'],
    ['reeve stop --run nightly-7 --action terminate', 'end a run, and deny its further checks'],
    ['reeve stop --all --dry-run', 'how much is in flight'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    const action = options.action ?? 'pause';
    const scope = scopeOf(options);
    const request = { action, scope, reason: options.reason ?? '' };
    const client = await connect(shell, input);
    const preview = await client.call('controlScope', { body: { ...request, dry_run: true } });
    const about = { action, scope };
    if (options.dryRun) {
      print(shell, globals.output, { ...about, ...preview }, () => previewText(action, scope, preview));
      return 0;
    }
    note(shell, previewText(action, scope, preview));
    for (const hint of suspendHint(action, scope)) note(shell, hint);
    if (preview.changed === 0 && scope.run_id === undefined) {
      print(shell, globals.output, { ...about, ...preview, counts: {}, receipts: [] }, () => 'Nothing to do.');
      return 0;
    }
    if (!options.yes && !(await confirm(shell, question(action, scope, preview)))) {
      note(shell, 'Nothing was done.');
      return 1;
    }
    const done = await control(shell, client, request);
    const report = await followControl(shell, client, done, (options.wait ?? 60) * 1000);
    const outcome = outcomeOf(report);
    print(shell, globals.output, { ...about, ...done, ...report }, () =>
      [outcomeText(shell, action, outcome, report), ...laterText(action, scope)].join('\n'),
    );
    return outcome.isComplete ? 0 : 1;
  },
});

/** Repeats the request after a broken connection. The idempotency key tells the gateway that it is the same one. */
async function control(
  shell: Shell,
  client: GatewayClient,
  request: { readonly action: Action; readonly scope: Scope; readonly reason: string },
): Promise<Preview> {
  const call = { headers: { 'idempotency-key': randomUUID() }, body: { ...request, dry_run: false } } as const;
  try {
    return await client.call('controlScope', call, { timeoutMs: controlTimeoutMs });
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    note(shell, `${error.message}. Trying again.`);
    return client.call('controlScope', call, { timeoutMs: controlTimeoutMs });
  }
}

interface ScopeOptions {
  readonly all: boolean;
  readonly org: string | undefined;
  readonly team: string | undefined;
  readonly agent: string | undefined;
  readonly run: string | undefined;
}

function scopeOf({ all, org, team, agent, run }: ScopeOptions): Scope {
  const named = {
    ...(agent?.includes('/') === true ? wholeAgent(agent) : agent === undefined ? {} : { agent_id: agent }),
  };
  const scope = {
    ...(org === undefined ? {} : { org_id: org }),
    ...(team === undefined ? {} : { team_id: team }),
    ...named,
    ...(run === undefined ? {} : { run_id: run }),
  };
  const isNarrow = Object.keys(scope).length > 0;
  if (all && isNarrow) throw new UsageError('--all stands alone: leave out --org, --team, --agent and --run');
  if (!all && !isNarrow) throw new UsageError('say what to stop: --org, --team, --agent, --run, or --all');
  return all ? { all: true } : scope;
}

function wholeAgent(text: string): Scope {
  const { org, team, agent } = agentPath(text);
  return { org_id: idOfPart(org), team_id: idOfPart(team), agent_id: agent };
}

function previewText(action: Action, scope: Scope, { matched, changed, skipped }: Preview): string {
  const where = Object.entries(scope).map(([name, value]) =>
    name === 'all' ? 'everything' : `${name.replace('_id', '')} ${value === '' ? '-' : value}`,
  );
  const rest = skipped === 0 ? '' : `; ${skipped} in another state would be left as they are`;
  const now = `In ${where.join(', ')}: ${counted(matched, 'operation')} in flight. ${capital(action)} would change ${changed}${rest}.`;
  if (scope.run_id === undefined) return now;
  const later = action === 'resume' ? 'would be decided by policy again' : 'would be denied, until it is resumed';
  return `${now} Later checks of the run ${later}.`;
}

function question(action: Action, scope: Scope, { changed }: Preview): string {
  const now = `${capital(action)} ${counted(changed, 'operation')}`;
  if (scope.run_id === undefined) return `${now}?`;
  return `${now}, and ${action === 'resume' ? 'let the run go on' : 'deny later checks of the run'}?`;
}

/** A stop of a whole scope ends what runs, and nothing keeps its agents from beginning again. */
function suspendHint(action: Action, scope: Scope): string[] {
  const { org_id, team_id, agent_id, run_id, all } = scope;
  if (action === 'resume' || run_id !== undefined || agent_id !== undefined) return [];
  if (all !== true && org_id === undefined) return [];
  const within = { ...(org_id === undefined ? {} : { org_id }), ...(team_id === undefined ? {} : { team_id }) };
  return [
    `New operations may begin. To hold ${scopeText(within)} until you resume: reeve suspend ${scopeArguments(within)} --reason …`,
  ];
}

/** What a control of a run means for what comes after. */
function laterText(action: Action, { run_id: run }: Scope): string[] {
  if (run === undefined) return [];
  if (action === 'resume') return [`Later checks of run ${run} are decided by policy again.`];
  return [`Later checks of run ${run} are denied, until it is resumed.`];
}

function capital(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
