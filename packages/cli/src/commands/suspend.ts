import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, number, text } from '../command-line/values.ts';
import { followControl } from '../control/follow-control.ts';
import { outcomeOf, outcomeText } from '../control/outcome.ts';
import { scopeArguments, scopeText, tenantScopeOf, tenantScopeOptions } from '../control/tenant-scope.ts';
import { connect } from '../http/connect.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { confirm } from '../terminal/ask.ts';

/** A scope with very many operations takes a while. */
const suspendTimeoutMs = 300_000;

export const suspendCommand = defineCommand({
  details: [
    'Holds everything in an org, in a team or in all tenants: what runs is paused, or terminated with --terminate, and every check of every agent in it is denied, also of agents that register later and after a restart, until "reeve resume" lifts it. Says first how much is in flight, asks, and then follows the receipts until every agent has confirmed.',
    'Ends with 0 if all are effective, with 1 if some are not (new operations are denied all the same), with 4 if there is no agent in the scope.',
    'A team needs the scope write; an org, and --all, need admin.',
    'Data: the suspension {id, org_id, team_id, action, by, reason, since, operations}, and counts and receipts as of "reeve stop".',
  ],
  args: {},
  options: {
    ...tenantScopeOptions,
    terminate: flag('Terminate what runs, instead of pausing it. This cannot be taken back.'),
    reason: text('TEXT', 'Why; the audit log keeps it, and agents are told. Needed.'),
    yes: flag('Do not ask.', { short: 'y' }),
    wait: number('SECONDS', 'How long to follow the receipts; 0 does not wait. Default: 60.', { min: 0, max: 86_400 }),
  },
  examples: [
    ['reeve suspend --org acme --reason "incident 42"', 'hold all of an org, after asking'],
    [
      'reeve suspend --org acme --team support --terminate --reason "leaked key" --yes',
      'end what a team runs, and hold it',
    ],
    ['reeve resume --org acme', 'and let it go on'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    const scope = tenantScopeOf(options);
    const { reason } = options;
    if (reason === undefined || reason.trim() === '') throw new UsageError('say why: --reason "incident 42"');
    const action = options.terminate ? 'terminate' : 'pause';
    const client = await connect(shell, input);
    const { matched } = await client.call('controlScope', {
      body: { action, scope: scope.org_id === undefined ? { all: true } : scope, reason, dry_run: true },
    });
    const where = scopeText(scope);
    note(shell, `In ${where}: ${counted(matched, 'operation')} in flight.`);
    const question = `Suspend ${where}: ${action} what runs, and deny every check until it is resumed?`;
    if (!options.yes && !(await confirm(shell, question))) {
      note(shell, 'Nothing was done.');
      return 1;
    }
    const call = { body: { ...scope, action, reason } } as const;
    const suspension = await client.call('suspendScope', call, { timeoutMs: suspendTimeoutMs });
    note(shell, `Suspended ${where}. To lift it: reeve resume ${scopeArguments(scope)}`);
    const { operations } = suspension;
    const report =
      operations === null
        ? { counts: {}, receipts: [] }
        : await followControl(shell, client, operations, (options.wait ?? 60) * 1000);
    const outcome = outcomeOf(report);
    print(shell, globals.output, { ...suspension, ...report }, () => outcomeText(shell, action, outcome, report));
    return outcome.isComplete ? 0 : 1;
  },
});
