import { agentPath, agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';

export const agentsRevokeDelegationCommand = defineCommand({
  details: [
    'Needs the scope write. The token of the delegate stops at once, and its operations in flight are terminated. Whatever it has delegated itself ends, too. Data: the delegate, and the delegation as it was.',
  ],
  args: { agent: required('The delegate: ORG/TEAM/AGENT, with "-" for an empty org or team.', 'agent') },
  options: { reason: text('TEXT', 'Why; the audit log keeps it.') },
  examples: [['reeve agents revoke-delegation acme/support/helper --reason "not needed any more"', 'end it']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const ended = await client.call('revokeDelegation', {
      params: agentPath(input.args.agent),
      body: { reason: input.options.reason ?? '' },
    });
    const { by, checks, spent_usd: spent } = ended.delegation;
    const used = `${counted(checks, 'check')}, ${spent} USD`;
    const words = `${agentText(ended)} no longer acts for ${agentText(by)}; it had used ${used}.`;
    print(shell, input.globals.output, ended, () => cleanText(words));
    return 0;
  },
});
