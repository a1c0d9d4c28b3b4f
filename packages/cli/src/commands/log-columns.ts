import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Colour } from '../output/colour.ts';
import type { Column } from '../output/table.ts';

export type LogEntry = RouteOutput<Routes['listLogs']>['items'][number];

const colours: Readonly<Record<string, Colour>> = { allow: 'green', deny: 'red', pending: 'yellow' };

export const logColumns: readonly Column<LogEntry>[] = [
  { title: 'SEQ', value: ({ seq }) => seq, isRight: true },
  { title: 'TIME', value: ({ at }) => at, isTime: true, importance: 'major' },
  { title: 'EVENT', value: ({ event_type: type }) => type, importance: 'major' },
  { title: 'AGENT', value: ({ lineage }) => lineageText(lineage) },
  { title: 'DECISION', value: ({ decision }) => decision, colour: ({ decision }) => colours[decision ?? ''] },
  { title: 'OPERATION', value: ({ op_id: op }) => op, importance: 'minor' },
  { title: 'RULE', value: ({ policy_rule: rule }) => rule, isFlexible: true },
  {
    title: 'ACTOR',
    value: ({ actor }) => `${actor.kind} ${actor.label === '' ? actor.id : actor.label}`,
    isFlexible: true,
    importance: 'minor',
  },
  { title: 'REASON', value: ({ reason }) => reason, isFlexible: true },
];

function lineageText({ org_id: org, team_id: team, agent_id: agent }: LogEntry['lineage']): string {
  const parts = [org ?? '', team, agent];
  return parts.every((part) => part === '') ? '' : parts.map((part) => (part === '' ? '-' : part)).join('/');
}
