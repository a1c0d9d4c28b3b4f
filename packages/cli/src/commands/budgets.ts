import { defineCommand } from '../command-line/command.ts';
import { choice, flag, number } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { pageOptions, readPages } from '../http/pages.ts';
import { print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { budgetColumns } from './budget-columns.ts';
import { opFilters } from './op-filters.ts';

const { org, team, agent } = opFilters;

export const budgetsCommand = defineCommand({
  details: [
    'Needs the scope read. Shows the cap, the amount spent and the amount reserved, per day and month: everybody together, below that each org, its teams and their agents. REACHED says when spending reaches the cap at the present rate.',
    'With --history: the amounts spent day by day, or with --period month by month, by the tier that --org, --team and --agent name together, or by everybody.',
    'Data: {items, next_cursor, total}, as GET /api/v1/budgets; with --history {items}, as GET /api/v1/budgets/history.',
  ],
  args: {},
  options: {
    org,
    team,
    agent,
    period: choice(['day', 'month'], 'Only of this period.'),
    tier: choice(['global', 'org', 'team', 'agent'], 'Only of this tier.'),
    minPercent: number('N', 'Only those that have used at least this percentage of their cap.', { min: 0, max: 100 }),
    history: flag('What was spent in the days or months before.'),
    count: number('N', 'How many days or months of --history, 1 to 400. Default: 30.', { min: 1, max: 400 }),
    ...pageOptions,
  },
  examples: [
    ['reeve budgets', 'what everybody has spent'],
    ['reeve budgets --org acme --period month', 'an org, this month'],
    ['reeve budgets --min-percent 80', 'where the cap is near'],
    ['reeve budgets --history --org acme --count 14', 'two weeks of an org, as bars'],
    ['reeve budgets --all --output json', 'everything, for a program'],
  ],
  run: async (input, shell) => {
    const { options } = input;
    const client = await connect(shell, input);
    const whose = { org_id: options.org, team_id: options.team, agent_id: options.agent };
    if (options.history) {
      const { historyText } = await import('./budget-history.ts');
      const period = options.period ?? 'day';
      const call = { ...whose, period, count: options.count };
      const answer = await client.call('budgetHistory', { query: call });
      print(shell, input.globals.output, answer, () => historyText(shell, answer.items, period));
      return 0;
    }
    const query = { ...whose, period: options.period, tier: options.tier, min_percent: options.minPercent };
    const page = await readPages(options, (paging) => client.call('listBudgets', { query: { ...query, ...paging } }));
    printList(shell, input.globals, page, budgetColumns, 'No budgets.');
    return 0;
  },
});
