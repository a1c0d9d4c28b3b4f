import { userText } from '@reeve/contract/names';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanLines, cleanText, escapeControls } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { timeLeft } from '../output/duration.ts';
import { approvedText, giverText } from './approval-columns.ts';
import type { Approval } from './approval-filters.ts';

export const approvalsShowCommand = defineCommand({
  details: [
    'Needs the scope read. Shows the whole request, with secrets replaced: a verdict is about exactly this. Data: as GET /api/v1/approvals/{id}.',
  ],
  args: { id: required('The id of an approval.', 'approval') },
  options: {},
  examples: [['reeve approvals show apr_7f3k2', 'what is asked for, by whom and why']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const approval = await client.call('getApproval', { params: { id: input.args.id } });
    print(shell, input.globals.output, approval, () => approvalText(approval));
    if (input.globals.output === 'table' && approval.state === 'open') {
      const decide = `Decide: reeve approvals approve ${approval.id}, or reeve approvals reject ${approval.id}`;
      note(shell, approval.refusal == null ? `\n${decide}` : `\nYou cannot decide: ${approval.refusal.detail}`);
    }
    return 0;
  },
});

/** The reported rule, and all others that ask. */
function rulesText({ policy_rule: first, rules }: Approval): string {
  return [...new Set([first, ...rules])].join(', ');
}

export function approvalText(approval: Approval): string {
  const { verdicts, action } = approval;
  const record = renderRecord([
    ['Approval', approval.id],
    ['State', approval.state],
    ['Agent', agentText(approval.agent)],
    ['For', userText(approval.user)],
    ['What', approval.title],
    ['Action', approval.action_type],
    ['Resource', approval.resource],
    ['Summary', approval.summary],
    ['Why', approval.reason],
    ['Rule', rulesText(approval)],
    ['Cost', `${approval.cost_usd} USD`],
    ['Run', approval.run_id],
    ['Operation', approval.op_id],
    ['Requested', approval.requested_at],
    ['Expires', `${approval.expires_at} (${timeLeft(approval.expires_at)})`],
    ['Approved', approvedText(approval)],
    ['Approvers', approval.approvers?.words],
    ['Decided', approval.decided_at],
    ['Grant', approval.grant_id ?? (approval.grantable ? null : 'none may be given')],
    ['Digest', approval.digest],
    ['Policy', approval.policy_version],
  ]);
  const given = verdicts.map((one) =>
    cleanText(`  ${one.at}  ${one.verdict} by ${giverText(one)}${one.reason === '' ? '' : `: ${one.reason}`}`),
  );
  const request = cleanLines(escapeControls(JSON.stringify(action, undefined, 2)));
  return [record, ...(given.length === 0 ? [] : [['Verdicts:', ...given].join('\n')]), `Request:\n${request}`].join(
    '\n\n',
  );
}
