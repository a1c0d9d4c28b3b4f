import type { EpochMs } from '../kernel/index.ts';
import { minus, plus, totalOfJson } from '../kernel/index.ts';
import type { MutableRun, RunChange } from './run.ts';
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

/** Counts a change. */
export function add(run: MutableRun, { agentId, at, checks, denied, spentMicros, costMicros }: RunChange): void {
  noteTimes(run, at, at);
  run.checks += checks;
  run.denied += denied;
  run.spentMicros = plus(run.spentMicros, spentMicros);
  run.costMicros = plus(run.costMicros, costMicros);
  if (checks > 0) addChecks(run.agents, agentId, checks);
}

/** Takes a change back. Times stay as they are. */
export function subtract(run: Counts, { agentId, checks, denied, spentMicros, costMicros }: RunChange): void {
  run.checks -= checks;
  run.denied -= denied;
  run.spentMicros = minus(run.spentMicros, spentMicros);
  run.costMicros = minus(run.costMicros, costMicros);
  if (checks > 0) addChecks(run.agents, agentId, -checks);
}

type Counts = Pick<MutableRun, 'checks' | 'denied' | 'spentMicros' | 'costMicros' | 'agents'>;

/** Forgets what the log has. */
export function empty(run: MutableRun): void {
  const [first] = run.unsettled;
  run.checks = 0;
  run.denied = 0;
  run.spentMicros = 0;
  run.costMicros = 0;
  run.agents = [];
  run.startedAt = first?.at ?? run.lastAt;
}

/** What the log has of a run. */
export function durablePart(run: MutableRun): SavedRun {
  const { place, startedAt, lastAt, checks, denied, spentMicros, costMicros } = run;
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

/** Adds what was taken away before, or what a row has. */
export function join(run: MutableRun, part: SavedRun): void {
  noteTimes(run, part.startedAt, part.lastAt);
  run.checks += part.checks;
  run.denied += part.denied;
  run.spentMicros = plus(run.spentMicros, totalOfJson(part.spentMicros));
  run.costMicros = plus(run.costMicros, totalOfJson(part.costMicros));
  for (const { agentId, checks } of part.agents) addChecks(run.agents, agentId, checks);
}

/** One without a check has no times yet: it is known because something is under way in it. */
function noteTimes(run: MutableRun, startedAt: EpochMs, lastAt: EpochMs): void {
  const isNew = run.checks === 0;
  run.startedAt = isNew ? startedAt : Math.min(run.startedAt, startedAt);
  run.lastAt = isNew ? lastAt : Math.max(run.lastAt, lastAt);
}

/** Whether a row has all of a run. */
export function isSaved(run: MutableRun | undefined, saved: SavedRun | undefined): boolean {
  if (run === undefined || saved === undefined || run.unsettled.length > 0) return false;
  const isSame = run.checks === saved.checks && run.lastAt === saved.lastAt;
  return isSame && String(run.costMicros) === saved.costMicros;
}
