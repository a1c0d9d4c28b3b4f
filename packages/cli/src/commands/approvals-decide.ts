import { UsageError } from '../cli-error.ts';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { futureTime } from '../command-line/duration-seconds.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';
import type { Approval } from './approval-filters.ts';

/** The two verdicts. */

const id = required('The id of an approval.', 'approval');
const reason = text('TEXT', 'Why; the audit log keeps it.');

export const approvalsApproveCommand = defineCommand({
  details: [
    'Needs the scope write. The operation runs as soon as enough people have approved; the approval is for this one request. With --grant the same agent may do the same under the same rule without asking: for the rest of its run, or until a time. Grants are listed by "reeve approvals grants".',
    'The credential that registered an agent cannot decide about it, unless it is an unbound admin and no rule that asks says "self: false"; then it is marked as self-approved. Data: the approval, as POST /api/v1/approvals/{id}/approve.',
  ],
  args: { id },
  options: {
    reason,
    grant: text('run|until=TIME', 'A standing grant: for this run, or until a time, such as until=2h.', {
      completes: ['run', 'until=1h', 'until=8h'],
    }),
  },
  examples: [
    ['reeve approvals approve apr_7f3k2 --reason "agreed with finance"', 'let it happen, once'],
    ['reeve approvals approve apr_7f3k2 --grant run', 'and the same again in this run'],
    ['reeve approvals approve apr_7f3k2 --grant until=2h', 'and the same again for two hours'],
  ],
  run: async (input, shell) => {
    const { grant, reason: why = '' } = input.options;
    const granted = grant === undefined ? {} : { grant: grantOf(grant) };
    const client = await connect(shell, input);
    const approval = await client.call('approve', { params: { id: input.args.id }, body: { reason: why, ...granted } });
    print(shell, input.globals.output, approval, () => verdictText(approval));
    return 0;
  },
});

export const approvalsRejectCommand = defineCommand({
  details: [
    'Needs the scope write. One rejection decides: the operation is terminated and its agent told. Data: the approval, as POST /api/v1/approvals/{id}/reject.',
  ],
  args: { id },
  options: { reason },
  examples: [['reeve approvals reject apr_7f3k2 --reason "wrong account"', 'do not let it happen']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const approval = await client.call('reject', {
      params: { id: input.args.id },
      body: { reason: input.options.reason ?? '' },
    });
    print(shell, input.globals.output, approval, () => verdictText(approval));
    return 0;
  },
});

function grantOf(given: string): { reach: 'run' } | { reach: 'until'; until: string } {
  if (given === 'run') return { reach: 'run' };
  const [, until] = /^until=(.+)$/.exec(given) ?? [];
  if (until === undefined) throw new UsageError(`--grant must be "run" or "until=TIME", not "${given}"`);
  return { reach: 'until', until: futureTime(until, '--grant until') };
}

export function verdictText({
  id: name,
  state,
  agent,
  title,
  required: needed,
  verdicts,
  grant_id: grant,
  self_approved: isOwn,
}: Approval): string {
  const given = verdicts.filter(({ verdict }) => verdict === 'approve').length;
  const what = `${title}, by ${agentText(agent)}`;
  if (state === 'open') {
    const missing = counted(needed - given, 'more person', 'more people');
    return cleanText(`${name} is approved by you, ${given} of ${needed}; ${missing} must approve: ${what}.`);
  }
  const granted = grant === null ? '' : ` Grant ${grant} lets it do so again.`;
  const own = isOwn ? ' It is marked as self-approved: the agent is your own.' : '';
  return cleanText(`${name} is ${state}: ${what}.${granted}${own}`);
}
