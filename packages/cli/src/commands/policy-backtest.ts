import { UsageError } from '../cli-error.ts';
import { agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, number, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { readChunks } from '../http/send.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import { readCandidate } from '../policy/offline.ts';
import type { Backtest, ChangedDecision, Progress } from '../policy/read-backtest.ts';
import { readBacktest } from '../policy/read-backtest.ts';
import type { Shell } from '../shell.ts';
import { opFilters } from './op-filters.ts';

const { org, team, agent } = opFilters;

export const policyBacktestCommand = defineCommand({
  details: [
    'Needs the scope read. Judges the recorded decisions of the last days again by a candidate, and says what would change, by rule and by agent. The candidate stands alone; with --merge it joins what is in force.',
    'Data: {from, to, examined, skipped, changed, by_outcome, by_rule, by_agent, changes}. With --fail-on-change it ends with 1 if anything would change.',
  ],
  args: {},
  options: {
    candidate: text('PATH', 'Policies to try: a file, or a folder of them. Required.', { completes: 'file' }),
    merge: flag('The candidate joins what is in force.'),
    days: number('N', 'How many days back, 1 to 366. Default: 7.', { min: 1, max: 366 }),
    org,
    team,
    agent,
    changes: number('N', 'How many changes are listed one by one. Default: 20.', { min: 0, max: 10_000 }),
    failOnChange: flag('End with 1 if anything would change.'),
  },
  examples: [
    ['reeve policy backtest --candidate policies --days 30', 'what a month would have been like'],
    ['reeve policy backtest --candidate new.yaml --merge --org acme', 'with one document changed, for one org'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    if (options.candidate === undefined) throw new UsageError('say what to try: --candidate PATH');
    const candidate = await readCandidate(options.candidate);
    const client = await connect(shell, input);
    const answer = await client.open('backtestPolicy', {
      body: {
        candidate,
        merge: options.merge,
        days: options.days ?? 7,
        changes: options.changes ?? 20,
        ...(options.org === undefined ? {} : { org_id: options.org }),
        ...(options.team === undefined ? {} : { team_id: options.team }),
        ...(options.agent === undefined ? {} : { agent_id: options.agent }),
      },
    });
    let seen: Progress = { examined: 0, total: null, changed: 0, share: 0 };
    const chunks = readChunks(answer.body, client.apiUrl, globals.timeout * 1000);
    const found = await withProgress(
      shell,
      () => progressText(seen),
      readBacktest(chunks, (progress) => (seen = progress)),
    );
    print(shell, globals.output, found, () => backtestText(shell, found));
    return options.failOnChange && found.changed > 0 ? 1 : 0;
  },
});

function progressText({ examined, share, changed }: Progress): string {
  return `Judging again: ${Math.floor(share * 100)} %, ${counted(examined, 'decision')}, ${changed} would change`;
}

type Counted = { readonly was: string; readonly would_be: string; readonly count: number };

const outcomeColumns: readonly Column<Counted>[] = [
  { title: 'WAS', value: ({ was }) => was },
  { title: 'WOULD BE', value: ({ would_be: next }) => next, colour: ({ would_be: next }) => colours[next] },
  { title: 'DECISIONS', value: ({ count }) => count, isRight: true },
];

const colours: Readonly<Record<string, 'red' | 'green' | 'yellow'>> = {
  deny: 'red',
  allow: 'green',
  pending: 'yellow',
};

const ruleColumns: readonly Column<Backtest['by_rule'][number]>[] = [
  { title: 'RULE', value: ({ rule }) => rule, isFlexible: true },
  ...outcomeColumns,
];

const agentColumns: readonly Column<Backtest['by_agent'][number]>[] = [
  { title: 'AGENT', value: agentText },
  ...outcomeColumns,
];

const changeColumns: readonly Column<ChangedDecision>[] = [
  { title: 'AT', value: ({ at }) => at, isTime: true },
  { title: 'OPERATION', value: ({ op_id: id }) => id },
  { title: 'AGENT', value: agentText },
  { title: 'ACTION', value: ({ action_type: type }) => type, importance: 'minor' },
  { title: 'RESOURCE', value: ({ resource }) => resource, isFlexible: true },
  { title: 'WAS', value: ({ was, was_rule: rule }) => `${was} by ${rule}`, isFlexible: true },
  { title: 'WOULD BE', value: ({ would_be: next, would_be_rule: rule }) => `${next} by ${rule}`, isFlexible: true },
];

function backtestText(shell: Shell, found: Backtest): string {
  const { from, to, examined, skipped, changed, changes } = found;
  const left = skipped === 0 ? '' : `; ${skipped} more cannot be judged again`;
  const head = `${counted(examined, 'decision')} from ${from} to ${to}${left}.`;
  if (changed === 0) return `${head}\nNothing would change.`;
  const more =
    changed > changes.length ? [`${changed - changes.length} more would change: --changes N lists more.`] : [];
  return [
    `${head}\n${counted(changed, 'decision')} would change.`,
    tableText(shell, outcomeColumns, found.by_outcome),
    tableText(shell, ruleColumns, found.by_rule),
    tableText(shell, agentColumns, found.by_agent),
    ...(changes.length === 0 ? [] : [tableText(shell, changeColumns, changes)]),
    ...more,
  ].join('\n\n');
}
