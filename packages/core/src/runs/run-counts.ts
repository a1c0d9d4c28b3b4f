import { minus, plus, totalOfJson } from '../kernel/index.ts';
import type { MutableRun, RunChange, RunTimes } from './run.ts';
import { addChecks } from './run.ts';
import type { OpOfRun, SavedRun } from './runs-slice.ts';

/** What a fact says of the run of its operation. */
export function changeOf({ op, checked, booked }: OpOfRun): RunChange {
  const isFirst = checked === true;
  return {
    agentId: op.agent.agentId,
    at: op.updatedAt,
    checks: isFirst ? 1 : 0,
    denied: isFirst && op.state === 'terminated' ? 1 : 0,
    spentMicros: isFirst ? op.reservedMicros : 0,
    costMicros: booked === undefined ? 0 : op.costMicros,
  };
}

/** Counts a change that waits to be durable, or that the log has. */
export function add(run: MutableRun, change: RunChange, isDurable: boolean): void {
  const times = timesOf(change);
  // One in which nothing has happened has no times yet: it is known because something is under way in it.
  const { startedAt, lastAt } = joined(hasTimes(run) ? run : undefined, times);
  run.startedAt = startedAt;
  run.lastAt = lastAt;
  if (isDurable) run.settled = joined(run.settled, times);
  else run.unsettled.push(change);
  count(run, change);
}

function hasTimes({ settled, unsettled }: MutableRun): boolean {
  return settled !== undefined || unsettled.length > 0;
}

function timesOf({ at }: RunChange): RunTimes {
  return { startedAt: at, lastAt: at };
}

function count(run: Counts, { agentId, checks, denied, spentMicros, costMicros }: RunChange): void {
  run.checks += checks;
  run.denied += denied;
  run.spentMicros = plus(run.spentMicros, spentMicros);
  run.costMicros = plus(run.costMicros, costMicros);
  if (checks > 0) addChecks(run.agents, agentId, checks);
}

/** A change that waited is durable. */
export function settle(run: MutableRun, change: RunChange): void {
  dropWaiting(run, change);
  run.settled = joined(run.settled, timesOf(change));
}

/** Takes a change back that waited. The times before it count if there are no others. */
export function takeBack(run: MutableRun, change: RunChange, before: RunTimes): void {
  dropWaiting(run, change);
  subtract(run, change);
  setTimes(run, before);
}

function dropWaiting({ unsettled }: MutableRun, change: RunChange): void {
  unsettled.splice(unsettled.indexOf(change), 1);
}

/** By all that is left to have happened. */
function setTimes(run: MutableRun, otherwise: RunTimes): void {
  const { startedAt, lastAt } =
    run.unsettled.map(timesOf).reduce<RunTimes | undefined>(joined, run.settled) ?? otherwise;
  run.startedAt = startedAt;
  run.lastAt = lastAt;
}

function joined(times: RunTimes | undefined, { startedAt, lastAt }: RunTimes): RunTimes {
  if (times === undefined) return { startedAt, lastAt };
  return { startedAt: Math.min(times.startedAt, startedAt), lastAt: Math.max(times.lastAt, lastAt) };
}

/** Takes the counts of a change away. */
function subtract(run: Counts, { agentId, checks, denied, spentMicros, costMicros }: RunChange): void {
  run.checks -= checks;
  run.denied -= denied;
  run.spentMicros = minus(run.spentMicros, spentMicros);
  run.costMicros = minus(run.costMicros, costMicros);
  if (checks > 0) addChecks(run.agents, agentId, -checks);
}

type Counts = Pick<MutableRun, 'checks' | 'denied' | 'spentMicros' | 'costMicros' | 'agents'>;

/** Forgets what the log has, and keeps what waits. */
export function empty(run: MutableRun): void {
  run.checks = 0;
  run.denied = 0;
  run.spentMicros = 0;
  run.costMicros = 0;
  run.agents = [];
  run.settled = undefined;
  setTimes(run, { startedAt: run.lastAt, lastAt: run.lastAt });
  for (const change of run.unsettled) count(run, change);
}

/** What the log has of a run. */
export function durablePart(run: MutableRun): SavedRun {
  const { place, checks, denied, spentMicros, costMicros } = run;
  const { startedAt, lastAt } = run.settled ?? run;
  const agents = run.agents.map((each) => ({ ...each }));
  const counts: Counts = { checks, denied, spentMicros, costMicros, agents };
  for (const change of run.unsettled) subtract(counts, change);
  return {
    place,
    startedAt,
    lastAt,
    checks: counts.checks,
    denied: counts.denied,
    spentMicros: String(counts.spentMicros),
    costMicros: String(counts.costMicros),
    agents: counts.agents,
    seq: 0,
  };
}

/** Adds what was taken away before, or what a row has, with its times, unless nothing had happened. */
export function join(run: MutableRun, part: SavedRun, settled: RunTimes | undefined): void {
  if (settled !== undefined) run.settled = joined(run.settled, settled);
  setTimes(run, part);
  run.checks += part.checks;
  run.denied += part.denied;
  run.spentMicros = plus(run.spentMicros, totalOfJson(part.spentMicros));
  run.costMicros = plus(run.costMicros, totalOfJson(part.costMicros));
  for (const { agentId, checks } of part.agents) addChecks(run.agents, agentId, checks);
}

/** Whether a row has all of a run. */
export function isSaved(run: MutableRun | undefined, saved: SavedRun | undefined): boolean {
  if (run === undefined || saved === undefined || run.unsettled.length > 0) return false;
  const isSame = run.checks === saved.checks && run.lastAt === saved.lastAt;
  return isSame && String(run.costMicros) === saved.costMicros;
}
