import type { Principal } from '../access/index.ts';
import { narrowedTo, requireAuthority, standingOf, widthOf } from '../access/index.ts';
import type { Actor } from '../audit/index.ts';
import { canonicalJson, draftOf, lineageOfBinding, redactText } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { ControlScope } from './bulk-control.ts';
import type { Controls } from './controls.ts';
import { hasOwnAgent } from './own-agents.ts';
import type { RunControl, RunReach } from './run-controls.ts';
import { contains, overlaps, placeOf } from './run-controls.ts';

/** How many runs credentials of one binding may hold. Beyond that, further ones are refused: no hold is ever given up. */
export const mostRunControls = 10_000;
/** One of them leaves room for what others have to stop. */
export const mostRunControlsOfOne = 5000;
/** How exactly the time of its last use is kept. */
const usedEveryMs = 3_600_000;

/** Where a control of a run holds: in the caller's tenant, as far as the scope goes. Undefined if that is nowhere. */
export function runReachOf(by: Principal, scope: ControlScope): RunReach | undefined {
  if (scope.runId === undefined) return undefined;
  const within = narrowedTo(by, scope);
  if (within === 'nothing') return undefined;
  // Operations show their run like this, and are found by it.
  const runId = redactText(scope.runId);
  return { runId, orgId: within.orgId ?? null, teamId: within.teamId ?? null, agentId: scope.agentId ?? null };
}

interface Holding {
  readonly by: Principal;
  readonly action: RunControl['action'];
  readonly reach: RunReach;
  readonly reason: string;
  readonly controlId: string;
}

/** Lets a control of a run hold for what comes after. What is terminated already does not become paused. */
export function holdRun(gov: Controls, { by, action, reach, reason, controlId }: Holding): void {
  const { runs } = gov.control;
  const imposedBy = { orgId: by.orgId, teamId: by.teamId };
  const known = runs.find(placeOf({ ...reach, imposedBy }), imposedBy);
  if (known !== undefined && (known.action === 'terminate' || known.action === action)) return;
  requireRoom(gov, by, reach);
  const now = gov.clock.now();
  // What becomes stronger holds since its beginning: whoever has left since then lifts none of it.
  const at = known?.at ?? now;
  const control: RunControl = { ...reach, action, controlId, actor: by.actor, imposedBy, at, refusedAt: null };
  gov.journal.apply({ kind: 'run_control_saved', control });
  note(gov, control, { eventType: 'RunHeld', at: now, actor: by.actor, reason, requestId: by.requestId });
}

/** Refuses to hold a further run if there is no room for it. */
export function requireRoom(gov: Controls, by: Principal, reach: RunReach): void {
  const { runs } = gov.control;
  const imposedBy = { orgId: by.orgId, teamId: by.teamId };
  if (runs.find(placeOf({ ...reach, imposedBy }), imposedBy) !== undefined) return;
  const held = runs.countOf(imposedBy);
  // Most hold few, and these need not be told apart.
  if (held < mostRunControlsOfOne) return;
  const isFull = held >= mostRunControls;
  if (!isFull && runs.countOf(imposedBy, by.actor) < mostRunControlsOfOne) return;
  const who = isFull ? `credentials with this binding hold ${held}` : `this credential holds ${mostRunControlsOfOne}`;
  throw new ReeveError(
    'too_many_held_runs',
    `${who} runs, the most they may; resume runs that no longer need it; what must stop now: suspend the agent, or control it by agent_id alone`,
  );
}

/**
 * Refuses a caller that may not lift what holds in its scope: all of it is lifted, or nothing. Nobody knows which agents
 * will ask in a run. So the credential that registered an agent lifts no control that holds for that agent, or did until
 * the agent left. Returns what it may lift.
 */
export async function requireRelease(gov: Controls, by: Principal, reach: RunReach): Promise<readonly RunControl[]> {
  const holding = requireWidth(gov, by, reach);
  const isOwn = await hasOwnAgent(gov, by, holding);
  requireAuthority({ ...standingOf(gov.keys, by), isOwn }, 'pause');
  return holding;
}

interface Release {
  readonly by: Principal;
  readonly reach: RunReach;
  /** What `requireRelease` has looked at. What was imposed since then stays: nobody knows whether the caller may lift it. */
  readonly liftable: readonly RunControl[];
  readonly reason: string;
}

/** Lifts controls of a run within a reach. */
export function releaseRun(gov: Controls, { by, reach, liftable, reason }: Release): void {
  const at = gov.clock.now();
  const ids = new Set(liftable.map(({ controlId }) => controlId));
  for (const control of requireWidth(gov, by, reach)) {
    if (!ids.has(control.controlId)) continue;
    gov.journal.apply({ kind: 'run_control_removed', control });
    note(gov, control, { eventType: 'RunReleased', at, actor: by.actor, reason, requestId: by.requestId });
  }
}

/** The controls that a resumption of this reach lifts. One that holds here and was imposed with more width stays. */
function requireWidth(gov: Controls, by: Principal, reach: RunReach): readonly RunControl[] {
  const holding = gov.control.runs.ofRun(reach.runId).filter((control) => overlaps(reach, control));
  const caller = standingOf(gov.keys, by);
  for (const { imposedBy } of holding) requireAuthority(caller, 'pause', widthOf(imposedBy));
  return holding.filter((control) => contains(reach, control));
}

/** Notes, once in a while, that a control of a run has refused a check. */
export function noteRunUse(gov: Controls, control: RunControl, at: EpochMs): void {
  const { refusedAt } = control;
  if (refusedAt !== null && at - refusedAt < usedEveryMs) return;
  const used = { ...control, refusedAt: at };
  gov.journal.apply({ kind: 'run_control_used', control: used });
}

interface Note {
  readonly eventType: 'RunHeld' | 'RunReleased';
  readonly at: EpochMs;
  readonly actor: Actor;
  /** Secrets are replaced already. */
  readonly reason: string;
  readonly requestId: string | undefined;
}

function note(gov: Controls, control: RunControl, { reason, requestId, ...entry }: Note): void {
  const { action, controlId, runId, orgId, teamId, agentId } = control;
  gov.journal.record(
    draftOf({
      ...entry,
      lineage: lineageOfBinding(control),
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        action,
        agent_id: agentId,
        control_id: controlId,
        org_id: orgId,
        ...(requestId === undefined ? {} : { request_id: requestId }),
        run_id: runId,
        team_id: teamId,
      }),
    }),
  );
}
