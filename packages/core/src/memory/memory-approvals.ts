import type { Approval } from '../approvals/approval.ts';
import { isLive } from '../approvals/approval.ts';
import type { ApprovalQuery, ApprovalReader, Found, GrantQuery, PageEnd } from '../approvals/approval-reader.ts';
import { sortedBy } from '../approvals/approval-reader.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { grantStateOf } from '../approvals/grant.ts';
import type { Change, Snapshot } from '../store.ts';
import type { AgentId } from '../kernel/ids.ts';

type ApprovalChange = Extract<Change, { readonly kind: 'approval_saved' | 'grant_saved' | 'approvals_removed' }>;

/** What the store in memory keeps of approvals and grants. */
export class MemoryApprovals implements ApprovalReader {
  readonly #approvals = new Map<string, Approval>();
  readonly #grants = new Map<string, StandingGrant>();

  load(): Pick<Snapshot, 'approvals' | 'grants'> {
    return {
      approvals: [...this.#approvals.values()].filter(isLive),
      grants: [...this.#grants.values()].filter(({ revokedAt }) => revokedAt === null),
    };
  }

  apply(change: ApprovalChange): void {
    switch (change.kind) {
      case 'approval_saved':
        this.#approvals.set(change.approval.id, change.approval);
        break;
      case 'grant_saved':
        this.#grants.set(change.grant.id, change.grant);
        break;
      case 'approvals_removed':
        this.#remove(change.before, change.kept, change.most);
        break;
    }
  }

  approval(id: string): Promise<Approval | undefined> {
    return Promise.resolve(this.#approvals.get(id));
  }

  approvals(query: ApprovalQuery): Promise<Found<Approval>> {
    const { state, runId } = query;
    const time = sortedBy(state);
    const fits = (approval: Approval) =>
      isOf(approval.agent, query) &&
      (runId === undefined || approval.runId === runId) &&
      (state === 'all' || approval.state === state);
    const found = [...this.#approvals.values()].filter(fits);
    const direction = state === 'open' ? 'ascending' : 'descending';
    return Promise.resolve(pageOf(found, query, direction, (approval) => approval[time] ?? 0));
  }

  grant(id: string): Promise<StandingGrant | undefined> {
    return Promise.resolve(this.#grants.get(id));
  }

  grants(query: GrantQuery): Promise<Found<StandingGrant>> {
    const { state, now } = query;
    const fits = (grant: StandingGrant) =>
      isOf(grant.agent, query) && (state === 'all' || grantStateOf(grant, now) === state);
    const found = [...this.#grants.values()].filter(fits);
    return Promise.resolve(pageOf(found, query, 'descending', ({ grantedAt }) => grantedAt));
  }

  #remove(before: number, kept: number, most: number): void {
    const over = [...this.#approvals.values()].filter((approval) => !isLive(approval));
    const newest = over.sort((a, b) => (b.decidedAt ?? 0) - (a.decidedAt ?? 0) || (a.id < b.id ? 1 : -1));
    const old = newest.filter(({ decidedAt }, index) => index >= kept || (decidedAt ?? 0) < before);
    for (const { id } of old.toReversed().slice(0, most)) this.#approvals.delete(id);
    const ended = [...this.#grants.values()].filter((grant) => endOf(grant) < before);
    for (const { id } of ended.slice(0, most)) this.#grants.delete(id);
  }
}

function endOf({ revokedAt, expiresAt }: StandingGrant): number {
  return Math.min(revokedAt ?? expiresAt, expiresAt);
}

function isOf(agent: AgentId, { orgId, teamId, agentId }: ApprovalQuery | GrantQuery): boolean {
  return (
    (orgId === undefined || agent.orgId === orgId) &&
    (teamId === undefined || agent.teamId === teamId) &&
    (agentId === undefined || agent.agentId === agentId)
  );
}

function pageOf<Item extends { readonly id: string }>(
  items: readonly Item[],
  { after, limit }: ApprovalQuery | GrantQuery,
  direction: 'ascending' | 'descending',
  timeOf: (item: Item) => number,
): Found<Item> {
  const sign = direction === 'ascending' ? 1 : -1;
  const compare = (a: PageEnd, b: PageEnd) => sign * (a.at - b.at || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1));
  const placeOf = (item: Item): PageEnd => ({ at: timeOf(item), id: item.id });
  const sorted = items.toSorted((a, b) => compare(placeOf(a), placeOf(b)));
  const rest = after === undefined ? sorted : sorted.filter((item) => compare(placeOf(item), after) > 0);
  return { items: rest.slice(0, limit), total: items.length };
}
