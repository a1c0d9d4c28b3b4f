import type { RouteOutput, Routes } from '@reeve/contract/http';

/** Who a credential is, what it may do, and where. */
export function callerText(me: RouteOutput<Routes['me']>): string {
  const tenant =
    me.org_id === null ? 'bound to no tenant' : `bound to ${me.org_id}${me.team_id === null ? '' : `/${me.team_id}`}`;
  const who = me.key?.label ?? me.account?.email ?? me.kind;
  return `${who}: ${me.scopes.join(', ')}; ${tenant}`;
}
