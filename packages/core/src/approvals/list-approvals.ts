import type { Principal } from '../access/index.ts';
import { narrowedTo, requireScope, mayReach } from '../access/index.ts';
import type { ApprovalQuery, Found, GrantQuery, PageEnd } from './approval-reader.ts';
import { sortedBy } from './approval-reader.ts';
import type { Approval } from './approval.ts';
import type { Approvals } from './approvals.ts';
import type { StandingGrant } from './grant.ts';
import type { EpochMs } from '../kernel/index.ts';
import { invalid, ReeveError } from '../kernel/index.ts';
import type { Op } from '../ops/index.ts';

interface Filter {
  readonly orgId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly agentId?: string | undefined;
}

export interface ApprovalFilter extends Filter {
  readonly runId?: string | undefined;
  readonly state: ApprovalQuery['state'];
  readonly decidedBy?: string | undefined;
  readonly from?: EpochMs | undefined;
  readonly to?: EpochMs | undefined;
}

export interface GrantFilter extends Filter {
  readonly state: GrantQuery['state'];
}

interface Page {
  readonly after?: PageEnd | undefined;
  readonly limit: number;
}

export interface Listed<Item> extends Found<Item> {
  /** Where the next page starts; null if there is none. */
  readonly next: PageEnd | null;
  /** Where the next page would start if this one ended with `item`. */
  readonly endAt: (item: Item) => PageEnd;
}

/** The approvals that the caller may see, as the store has them. */
export async function listApprovals(
  gov: Approvals,
  by: Principal,
  { state, runId, decidedBy, from, to, ...filter }: ApprovalFilter,
  page: Page,
): Promise<Listed<Approval>> {
  const asked = questionOf(by, filter, page);
  if (asked === 'nothing') return nothing;
  const narrowed = { runId, decidedBy, from, to };
  if (state === 'open' && [decidedBy, from, to].some((one) => one !== undefined)) {
    throw invalid('state', 'must be "decided", "approved" or "rejected" beside decided_by, from and to');
  }
  const query: ApprovalQuery = { ...asked, state, ...given(narrowed) };
  const time = sortedBy(state);
  const found = await gov.journal.durable(() => gov.approvals.reader.approvals(query));
  return listed(found, page, (approval) => approval[time] ?? 0);
}

/** The members that are not undefined. */
function given<Members extends object>(members: Members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>;
  };
}

/** The standing grants that the caller may see. */
export async function listGrants(
  gov: Approvals,
  by: Principal,
  { state, ...filter }: GrantFilter,
  page: Page,
): Promise<Listed<StandingGrant>> {
  const asked = questionOf(by, filter, page);
  if (asked === 'nothing') return nothing;
  const query = { ...asked, state, now: gov.clock.now() };
  const found = await gov.journal.durable(() => gov.approvals.reader.grants(query));
  return listed(found, page, ({ grantedAt }) => grantedAt);
}

const nothing = { items: [], total: 0, next: null, endAt: ({ id }: { readonly id: string }) => ({ at: 0, id }) };

function questionOf(by: Principal, { orgId, teamId, agentId }: Filter, { after, limit }: Page) {
  requireScope(by, 'read');
  const tenant = narrowedTo(by, { orgId, teamId });
  if (tenant === 'nothing') return tenant;
  return {
    ...tenant,
    ...(agentId === undefined ? {} : { agentId }),
    ...(after === undefined ? {} : { after }),
    // Reads one more than it shows, to know whether there is another page.
    limit: limit + 1,
  };
}

function listed<Item extends { readonly id: string }>(
  { items, total, cut = false }: Found<Item>,
  { limit }: Page,
  timeOf: (item: Item) => number,
): Listed<Item> {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const endAt = (item: Item) => ({ at: timeOf(item), id: item.id });
  const next = (cut || items.length > limit) && last !== undefined ? endAt(last) : null;
  return { items: shown, total, next, endAt };
}

/** The operation that an approval is about, if it is still known. */
export function opAskedAbout(gov: Approvals, { agent, opId }: Pick<Approval, 'agent' | 'opId'>): Op | undefined {
  const owner = gov.directory.find(agent);
  return owner === undefined ? undefined : gov.ops.find(owner, opId);
}

/** An approval that the caller may see, once it is durable. For a tenant, approvals of other tenants do not exist. */
export async function findApproval(gov: Approvals, by: Principal, id: string): Promise<Approval> {
  requireScope(by, 'read');
  const approval = await gov.journal.durable(
    async () => gov.approvals.find(id) ?? (await gov.approvals.reader.approval(id)),
  );
  if (approval !== undefined && mayReach(by, approval.agent)) return approval;
  throw new ReeveError('approval_not_found', `there is no approval "${id}"`);
}
