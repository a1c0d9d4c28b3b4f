import type { RouteInput, RouteOutput, Routes } from '@reeve/contract/http';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import { tableText } from '../output/table-text.ts';
import { budgetColumns } from './budget-columns.ts';
import { idOfPart } from '@reeve/contract/names';

type Correction = RouteInput<Routes['correctBudget']>['body'];
type Corrected = RouteOutput<Routes['correctBudget']>;

export const budgetsCorrectCommand = defineCommand({
  details: [
    'Needs the scope admin and a credential that is bound to no tenant. Changes the amount settled today and this month, in the named tier and in all above it: an agent’s team, its org and everybody’s budget. It takes no more off today than there is, and no month falls below 0. The audit log keeps it as BudgetCorrected.',
    'Data: {items}: the budgets that were corrected, as they are now.',
  ],
  args: { whose: required('ORG, ORG/TEAM or ORG/TEAM/AGENT, with "-" for an empty org or team.', 'agent') },
  options: {
    amount: text('USD', 'Dollars with their sign: -1.50 takes off, 1.50 adds.'),
    reason: text('TEXT', 'Why; the audit log keeps it.'),
  },
  examples: [
    [
      'reeve budgets correct acme/support/helper --amount -1.50 --reason "reported in cents"',
      'take off what was not spent',
    ],
    ['reeve budgets correct acme --amount 12 --reason "bill of May"', 'add what an org spent elsewhere'],
  ],
  run: async (input, shell) => {
    const { amount, reason } = input.options;
    if (amount === undefined)
      throw new UsageError('--amount is missing: dollars with their sign, as in --amount -1.50');
    if (reason === undefined) throw new UsageError('--reason is missing: the audit log keeps why it was corrected');
    const client = await connect(shell, input);
    const corrected: Corrected = await client.call('correctBudget', {
      body: { ...ownerOf(input.args.whose), amount_usd: amount, reason },
    });
    print(shell, input.globals.output, corrected, () =>
      [cleanText(`Corrected by ${amount} USD. Now:`), tableText(shell, budgetColumns, corrected.items)].join('\n'),
    );
    return 0;
  },
});

/** The number of parts decides whom the path names. */
function ownerOf(whose: string): Pick<Correction, 'agent' | 'org_id' | 'team_id'> {
  const [org = '', team = '', agent = '', ...more] = whose.split('/').map(idOfPart);
  if (more.length > 0) throw new UsageError(`WHOSE must be ORG, ORG/TEAM or ORG/TEAM/AGENT, not "${whose}"`);
  if (agent !== '') return { agent: { org_id: org, team_id: team, agent_id: agent } };
  return team === '' ? { org_id: org } : { org_id: org, team_id: team };
}
