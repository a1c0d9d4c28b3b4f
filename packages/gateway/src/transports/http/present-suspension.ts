import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Principal, ScopeSuspension } from '@reeve/core';
import { mayKnowOperations, timestamp } from '@reeve/core';

type SuspensionJson = RouteOutput<Routes['suspendScope']>;

/** A suspension of a scope on the wire, as everybody may read it whom it holds. */
export function suspensionTold(suspension: ScopeSuspension): Omit<SuspensionJson, 'operations'> {
  const { id, orgId, teamId, action, actor, reason, since } = suspension;
  return { id, org_id: orgId, team_id: teamId, action, by: actor, reason, since: timestamp(since) };
}

export function suspensionJson(by: Principal): (suspension: ScopeSuspension) => SuspensionJson {
  return (suspension) => {
    const { matched, changed, skipped, controlId } = suspension.operations;
    const operations = { matched, changed, skipped, control_id: controlId };
    return { ...suspensionTold(suspension), operations: mayKnowOperations(by, suspension) ? operations : null };
  };
}
