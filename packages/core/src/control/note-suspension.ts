import type { Principal } from '../access/index.ts';
import { canonicalJson, draftOf, lineageOfBinding } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { ScopeSuspension, SuspensionEvent, TenantScope } from '../tenancy/index.ts';
import type { ControlScope } from './bulk-control.ts';
import type { Controls } from './controls.ts';

/** The scope in the words of a control, which needs the same authority. */
export function controlScopeOf({ orgId, teamId }: TenantScope): ControlScope {
  if (orgId === null) return { all: true };
  return teamId === null ? { orgId } : { orgId, teamId };
}

interface Noted {
  readonly by: Pick<Principal, 'actor' | 'requestId'>;
  /** Secrets are replaced already. */
  readonly reason: string;
  readonly at: EpochMs;
}

/** Tells the log and live views that a scope was suspended, or a suspension lifted. */
export function noteSuspension(
  gov: Controls,
  suspension: ScopeSuspension,
  change: SuspensionEvent['change'],
  { by, reason, at }: Noted,
): void {
  const { id, orgId, teamId, action, operations } = suspension;
  gov.journal.record(
    draftOf({
      at,
      eventType: change === 'suspended' ? 'ScopeSuspended' : 'ScopeResumed',
      lineage: lineageOfBinding(suspension),
      actor: by.actor,
      reason: reason === '' ? null : reason,
      payload: canonicalJson({
        action,
        control_id: operations.controlId,
        org_id: orgId,
        ...(by.requestId === undefined ? {} : { request_id: by.requestId }),
        suspension_id: id,
        team_id: teamId,
      }),
    }),
  );
  gov.journal.apply({ type: 'suspension', at, change, suspension });
}
