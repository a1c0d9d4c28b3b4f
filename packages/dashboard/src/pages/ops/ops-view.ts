import { isOver, opStates } from '@reeve/contract/names';
import { actionName } from '../../api/action-name.ts';
import type { Op } from './op.ts';
import type { OpsFilter, Sort, SortName, StateFilter } from './ops-search.ts';
import type { Row } from './row-model.ts';

/** Whether an operation matches the filter. */
export function matcherOf(filter: OpsFilter): (row: Row) => boolean {
  const { state = 'in_flight', org_id, team_id, agent_id, run_id, door } = filter;
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return (row) => {
    const { op } = row;
    return (
      isIn(row, state) &&
      isPart(org_id, op.agent.org_id) &&
      isPart(team_id, op.agent.team_id) &&
      isPart(agent_id, op.agent.agent_id) &&
      (run_id === undefined || op.run_id === run_id) &&
      (door === undefined || (op.via?.door ?? 'sdk') === door) &&
      (words.length === 0 || hasAll(op, words))
    );
  };
}

function isIn(row: Row, wanted: StateFilter): boolean {
  const { state } = row.op;
  if (wanted === 'all') return true;
  if (wanted === 'ended') return isOver(state);
  return wanted === 'in_flight' ? !isOver(state) || isAnswer(row) : state === wanted;
}

/** An end that an operator waits for. The row shows it with its receipt, and does not vanish under the pointer. */
function isAnswer({ op, intent, notice }: Row): boolean {
  return intent !== undefined || notice !== undefined || op.control?.action === 'terminate';
}

function isPart(wanted: string | undefined, part: string): boolean {
  return wanted === undefined || wanted === part || (wanted === '-' && part === '');
}

function hasAll(op: Op, words: readonly string[]): boolean {
  let text = searched.get(op);
  if (text === undefined) {
    const { org_id, team_id, agent_id } = op.agent;
    const parts = [op.op_id, org_id, team_id, agent_id, op.resource, op.summary, op.run_id, op.action_type ?? ''];
    text = parts.join('\n').toLowerCase();
    searched.set(op, text);
  }
  return words.every((word) => text.includes(word));
}

/** The searchable text of an operation. Built once, because a record never changes. */
const searched = new WeakMap<Op, string>();

const keys: Readonly<Record<SortName, (op: Op) => string | number>> = {
  agent: ({ agent }) => agent.agent_id,
  team: ({ agent }) => agent.team_id,
  org: ({ agent }) => agent.org_id,
  action: ({ action_type }) => actionName(action_type) ?? '',
  resource: ({ resource }) => resource,
  summary: ({ summary }) => summary,
  state: ({ state }) => opStates.indexOf(state),
  // A smaller age means a later start.
  age: ({ registered_at }) => -Date.parse(registered_at),
  cost: ({ cost_micros }) => cost_micros,
};

/** The rows in order. Equal rows are sorted newest first, so the order is always the same. */
export function sortRows(rows: readonly Row[], sort: Sort = 'age'): Row[] {
  if (sort === 'age') return rows.toSorted(newestFirst);
  const isDown = sort.startsWith('-');
  const by = keys[(isDown ? sort.slice(1) : sort) as SortName];
  return rows
    .map((row) => ({ row, value: by(row.op) }))
    .sort((a, b) => {
      const first = compare(a.value, b.value);
      if (first !== 0) return isDown ? -first : first;
      return newestFirst(a.row, b.row);
    })
    .map(({ row }) => row);
}

function newestFirst(a: Row, b: Row): number {
  return compare(b.op.registered_at, a.op.registered_at) || compare(a.key, b.key);
}

function compare(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The sort after a click on a header: one way, the other way, and back to newest first. */
export function nextSort(current: Sort | undefined, name: SortName): Sort | undefined {
  const first: Sort = name === 'cost' ? '-cost' : name;
  const second: Sort = name === 'cost' ? 'cost' : `-${name}`;
  if (name === 'age') return current === '-age' ? undefined : '-age';
  return current === first ? second : current === second ? undefined : first;
}

export type Counts = Readonly<Record<'all' | 'in_flight' | 'pending' | 'running' | 'paused' | 'ended', number>>;

/** The number of rows per state among those that the other filters leave. */
export function countStates(rows: Iterable<Row>, filter: OpsFilter): Counts {
  const counts = { all: 0, in_flight: 0, pending: 0, running: 0, paused: 0, ended: 0 };
  const matches = matcherOf({ ...filter, state: 'all' });
  for (const row of rows) {
    if (!matches(row)) continue;
    const { state } = row.op;
    counts.all += 1;
    if (isOver(state)) counts.ended += 1;
    else {
      counts.in_flight += 1;
      if (state === 'pending' || state === 'running' || state === 'paused') counts[state] += 1;
    }
  }
  return counts;
}

export interface View {
  readonly rows: readonly Row[];
  /** While frozen: how many rows match but are not shown. */
  readonly fresh: number;
}

/** The visible rows. A frozen list keeps its rows and their order, but each row still shows its current state. */
export function viewOf(all: ReadonlyMap<string, Row>, filter: OpsFilter, frozen: readonly string[] | undefined): View {
  const matches = matcherOf(filter);
  const fitting = [...all.values()].filter((row) => matches(row) && !row.isGone);
  if (frozen === undefined) return { rows: sortRows(fitting, filter.sort), fresh: 0 };
  const kept = new Set(frozen);
  const rows = frozen.flatMap((key) => all.get(key) ?? []);
  return { rows, fresh: fitting.filter(({ key }) => !kept.has(key)).length };
}

type Tier = 'org_id' | 'team_id' | 'agent_id' | 'run_id';

/** The choices of a filter: what exists within the tiers above it, and the current choice. */
export function choicesOf(rows: Iterable<Row>, filter: OpsFilter, tier: Tier): string[] {
  const above: OpsFilter = {
    state: 'all',
    ...(tier === 'org_id' ? {} : { org_id: filter.org_id }),
    ...(tier === 'agent_id' || tier === 'run_id' ? { team_id: filter.team_id } : {}),
    ...(tier === 'run_id' ? { agent_id: filter.agent_id } : {}),
  };
  const matches = matcherOf(above);
  const found = new Set<string>();
  for (const row of rows) {
    if (!matches(row)) continue;
    const value = tier === 'run_id' ? row.op.run_id : row.op.agent[tier];
    if (value !== '') found.add(value);
    else if (tier !== 'run_id') found.add('-');
  }
  const chosen = filter[tier];
  if (chosen !== undefined) found.add(chosen);
  return [...found].toSorted(compare);
}
