import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { optional, text, texts } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';

export const runsLabelsClearCommand = defineCommand({
  details: [
    'Needs the scope write. Clears labels of a run, or with --agent what an agent bears and those of its run without an id. Checks that were answered before count as before. The credential that registered an agent of the run cannot do it. Data: {cleared, labels}.',
  ],
  args: { run: optional('The id of the run; leave it out with --agent.') },
  options: {
    org: text('ORG', 'The org. Default: that of the credential, or none.', { aliases: ['org-id'] }),
    team: text('TEAM', 'The team. Default: that of the credential, or none.', { aliases: ['team-id'] }),
    agent: text('AGENT', 'The agent whose labels are cleared, in place of a run.', { aliases: ['agent-id'] }),
    label: texts('LABEL', 'Only this label; may be given several times. Default: all.'),
    reason: text('TEXT', 'Why; the audit log keeps it.'),
  },
  examples: [
    ['reeve runs labels clear nightly-42 --org acme --team support --reason "looked at"', 'all labels of a run'],
    ['reeve runs labels clear --agent bot --label secret --org acme --team support', 'one label of an agent'],
  ],
  run: async (input, shell) => {
    const { org, team, agent, label, reason } = input.options;
    const { run } = input.args;
    if ((run === undefined) === (agent === undefined)) throw new UsageError('name either a run or an --agent');
    const client = await connect(shell, input);
    const answer = await client.call('clearRunLabels', {
      body: {
        org_id: org,
        team_id: team,
        run_id: run,
        agent_id: agent,
        labels: label.length === 0 ? undefined : [...label],
        reason: reason ?? '',
      },
    });
    const { cleared, labels } = answer;
    const words = cleared.length === 0 ? 'Nothing was to be cleared.' : `Cleared ${cleared.join(', ')}.`;
    const left = labels.length === 0 ? '' : ` Left: ${labels.join(', ')}.`;
    print(shell, input.globals.output, answer, () => cleanText(words + left));
    return 0;
  },
});
