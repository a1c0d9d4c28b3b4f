import { agentText } from '../command-line/agent-path.ts';
import { counted } from '../output/duration.ts';
import { tableText } from '../output/table-text.ts';
import type { Column } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import type { ControlReport, Receipt } from './follow-control.ts';
import { countsText } from './follow-control.ts';

const columns: readonly Column<Receipt>[] = [
  { title: 'OPERATION', value: ({ op_id: op }) => op },
  { title: 'AGENT', value: ({ agent }) => agentText(agent) },
  {
    title: 'STATUS',
    value: ({ status }) => status,
    colour: ({ status }) => (status === 'failed' ? 'red' : 'yellow'),
    importance: 'major',
  },
  { title: 'DETAIL', value: ({ detail }) => detail, isFlexible: true },
];

export interface Outcome {
  readonly total: number;
  readonly effective: number;
  readonly isComplete: boolean;
}

export function outcomeOf({ counts }: ControlReport): Outcome {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const effective = counts['effective'] ?? 0;
  return { total, effective, isComplete: total === effective };
}

/** The final count, and the operations for which the control is not effective. */
export function outcomeText(shell: Shell, action: string, outcome: Outcome, report: ControlReport): string {
  const { total, effective, isComplete } = outcome;
  const head = `${action}: effective for ${effective} of ${counted(total, 'operation')}`;
  if (isComplete) return `${head}.`;
  return `${head} (${countsText(report.counts)}). Not effective for:\n\n${tableText(shell, columns, report.receipts)}`;
}
