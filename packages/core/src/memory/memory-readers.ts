import type {
  Approval,
  ApprovalQuery,
  ApprovalReader,
  Found,
  GrantQuery,
  PageEnd,
  StandingGrant,
} from '../approvals/index.ts';
import { sortedBy, approvalsTable, deciderMark, decidersOf, grantsTable, grantStateOf } from '../approvals/index.ts';
import type { BulkControl, ControlReader } from '../control/index.ts';
import { bulksTable, receiptsTable } from '../control/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { Receipt, ReceiptStatus } from '../ops/index.ts';
import type { PolicySource, PolicyStore, PolicyVersion } from '../policy/index.ts';
import { policySetsTable, policyVersionsTable } from '../policy/index.ts';
import type { MemoryRows } from './memory-rows.ts';

/** Reads controls from the store in memory. */
export class MemoryControls implements ControlReader {
  readonly #rows: MemoryRows;
  readonly #bySequence: (name: string) => Receipt[];
  readonly #ofBulk: (bulkId: string) => Receipt[];

  constructor(rows: MemoryRows) {
    this.#rows = rows;
    this.#bySequence = rows.index(receiptsTable, ({ agent, sequence }) => sequenceName(agent, sequence));
    this.#ofBulk = rows.index(receiptsTable, ({ bulkId }) => bulkId ?? '');
  }

  receipt(id: string): Promise<Receipt | undefined> {
    return Promise.resolve(this.#rows.get(receiptsTable, id));
  }

  receipts(ids: readonly string[]): Promise<readonly Receipt[]> {
    return Promise.resolve(ids.map((id) => this.#rows.get(receiptsTable, id)).filter((found) => found !== undefined));
  }

  receiptOf(agent: AgentId, sequence: number): Promise<Receipt | undefined> {
    return Promise.resolve(this.#bySequence(sequenceName(agent, sequence)).at(-1));
  }

  bulk(id: string): Promise<BulkControl | undefined> {
    return Promise.resolve(this.#rows.get(bulksTable, id));
  }

  receiptsOfBulk(bulkId: string, after: string, limit: number): Promise<readonly Receipt[]> {
    const found = this.#ofBulk(bulkId).filter(({ id }) => id > after);
    return Promise.resolve(found.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit));
  }

  countsOfBulk(bulkId: string): Promise<Readonly<Partial<Record<ReceiptStatus, number>>>> {
    const counts: Partial<Record<ReceiptStatus, number>> = {};
    for (const { status } of this.#ofBulk(bulkId)) counts[status] = (counts[status] ?? 0) + 1;
    return Promise.resolve(counts);
  }
}

function sequenceName(agent: AgentId, sequence: number): string {
  return `${agentKey(agent)}#${sequence}`;
}

/** Reads policies from the store in memory. */
export class MemoryPolicies implements PolicyStore {
  readonly #rows: MemoryRows;
  readonly #byName: (name: string) => PolicyVersion[];

  constructor(rows: MemoryRows) {
    this.#rows = rows;
    this.#byName = rows.index(policyVersionsTable, ({ name }) => name);
  }

  find(version: string): Promise<readonly PolicySource[] | undefined> {
    const sources = this.#rows.get(policySetsTable, version)?.sources;
    return Promise.resolve(
      sources?.map(({ file, name, author, text }) => ({
        file,
        ...(name === undefined ? {} : { name }),
        ...(author === undefined ? {} : { author }),
        text,
      })),
    );
  }

  outline(name: string): Promise<readonly Pick<PolicyVersion, 'version' | 'scope'>[]> {
    return Promise.resolve(this.#newestFirst(name).map(({ version, scope }) => ({ version, scope })));
  }

  versions(name: string, wanted: readonly number[]): Promise<readonly PolicyVersion[]> {
    return Promise.resolve(this.#newestFirst(name).filter(({ version }) => wanted.includes(version)));
  }

  /** No other gateway shares this store. */
  alone<Result>(work: (newest: readonly PolicyVersion[]) => Promise<Result>): Promise<Result> {
    return work([]);
  }

  #newestFirst(name: string): readonly PolicyVersion[] {
    return this.#byName(name).sort((a, b) => b.version - a.version);
  }
}

/** Reads approvals and grants from the store in memory. */
export class MemoryApprovals implements ApprovalReader {
  readonly #rows: MemoryRows;

  constructor(rows: MemoryRows) {
    this.#rows = rows;
  }

  approval(id: string): Promise<Approval | undefined> {
    return Promise.resolve(this.#rows.get(approvalsTable, id));
  }

  approvals(query: ApprovalQuery): Promise<Found<Approval>> {
    const { state, runId, decidedBy, from = -Infinity, to = Infinity } = query;
    const time = sortedBy(state);
    const fits = (approval: Approval) =>
      isOf(approval.agent, query) &&
      (runId === undefined || approval.runId === runId) &&
      (state === 'all' || approval.state === state || (state === 'decided' && isDecided(approval))) &&
      (decidedBy === undefined || decidersOf(approval).includes(deciderMark(decidedBy))) &&
      (approval.decidedAt ?? 0) >= from &&
      (approval.decidedAt ?? 0) <= to;
    const found = this.#rows.all(approvalsTable).filter(fits);
    const direction = state === 'open' ? 'ascending' : 'descending';
    return Promise.resolve(pageOf(found, query, direction, (approval) => approval[time] ?? 0));
  }

  grant(id: string): Promise<StandingGrant | undefined> {
    return Promise.resolve(this.#rows.get(grantsTable, id));
  }

  grants(query: GrantQuery): Promise<Found<StandingGrant>> {
    const { state, now } = query;
    const fits = (grant: StandingGrant) =>
      isOf(grant.agent, query) && (state === 'all' || grantStateOf(grant, now) === state);
    const found = this.#rows.all(grantsTable).filter(fits);
    return Promise.resolve(pageOf(found, query, 'descending', ({ grantedAt }) => grantedAt));
  }
}

function isDecided({ state }: Approval): boolean {
  return state === 'approved' || state === 'rejected';
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
