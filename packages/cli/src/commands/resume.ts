import { NothingThereError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, text } from '../command-line/values.ts';
import type { TenantScope } from '../control/tenant-scope.ts';
import { scopeText, tenantScopeOf, tenantScopeOptions } from '../control/tenant-scope.ts';
import { connect } from '../http/connect.ts';
import { readPages } from '../http/pages.ts';
import { ProblemError } from '../http/problem-error.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { confirm } from '../terminal/ask.ts';
import type { Suspension } from './suspensions.ts';

const all = { all: true, perPage: undefined, cursor: undefined };
/** Resuming very many operations takes a while. */
const liftTimeoutMs = 300_000;

export const resumeCommand = defineCommand({
  details: [
    'Lifts the suspensions of a scope that "reeve suspend" or the dashboard imposed: checks are decided by policy again, and what they paused runs on, unless something else holds it. Lifts those of exactly this scope: resuming an org leaves a suspension of one of its teams in force. Asks on a terminal.',
    'This takes what suspending the scope takes, and a credential at least as wide as the one that imposed it. A credential that registered an agent in the scope lifts only what it imposed itself.',
    'Ends with 0 if all are lifted, with 1 if one could not be lifted, with 4 if nothing was suspended.',
    'Data: {lifted, in_force}: the suspensions that were lifted, and those that hold the scope, or a part of it, still.',
  ],
  args: {},
  options: {
    ...tenantScopeOptions,
    reason: text('TEXT', 'Why; the audit log keeps it, and agents are told.'),
    yes: flag('Do not ask.', { short: 'y' }),
  },
  examples: [
    ['reeve resume --org acme', 'lift all suspensions of an org'],
    ['reeve resume --all --reason "the incident is over" --yes', 'lift those of everything'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    const scope = tenantScopeOf(options);
    const client = await connect(shell, input);
    const read = () =>
      readPages(all, (query) => client.call('listSuspensions', { query: { ...query, org_id: scope.org_id } }));
    const where = scopeText(scope);
    const { items: found } = await read();
    const own = found.filter((each) => isOf(each, scope));
    if (own.length === 0) throw new NothingThereError(`${where} is not suspended${heldText(found)}`);
    const question = `Lift ${counted(own.length, 'suspension')} of ${where}?`;
    if (!options.yes && shell.stdin.isTTY && !(await confirm(shell, question))) {
      note(shell, 'Nothing was done.');
      return 1;
    }
    const lifted: Suspension[] = [];
    const refusals: ProblemError[] = [];
    for (const { id } of own) {
      const call = { params: { id }, body: { reason: options.reason ?? '' } } as const;
      try {
        lifted.push(await client.call('liftSuspension', call, { timeoutMs: liftTimeoutMs }));
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        // Somebody else has lifted it meanwhile.
        if (error.problem.code !== 'suspension_not_found') refusals.push(error);
      }
    }
    const { items: left } = await read();
    print(shell, globals.output, { lifted, in_force: left }, () =>
      cleanText(`Lifted ${counted(lifted.length, 'suspension')} of ${where}${heldText(left)}.`),
    );
    const [refusal] = refusals;
    if (refusal !== undefined) throw refusal;
    return 0;
  },
});

function isOf(
  suspension: Suspension,
  { org_id = null, team_id = null }: { org_id?: string | null; team_id?: string | null },
): boolean {
  return suspension.org_id === org_id && suspension.team_id === team_id;
}

/** What holds the scope, or a part of it, still. */
function heldText(left: readonly Suspension[]): string {
  if (left.length === 0) return '';
  const names = new Set(left.map((each) => scopeText(scopeOf(each))));
  return `; still suspended: ${[...names].join(', ')}`;
}

function scopeOf({ org_id: org, team_id: team }: Suspension): TenantScope {
  if (org === null) return {};
  return team === null ? { org_id: org } : { org_id: org, team_id: team };
}
