import { noLineage } from '../audit/draft.ts';
import type { Lineage } from '../tenancy/lineage.ts';

/** What concerns a credential is on record in the tenant that the credential is bound to. */
export function lineageOfBinding(bound: { readonly orgId: string | null; readonly teamId: string | null }): Lineage {
  return { ...noLineage, org_id: bound.orgId, team_id: bound.teamId ?? '' };
}
