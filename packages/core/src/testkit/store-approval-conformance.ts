import { describe, expect, test } from 'vitest';
import type { Approval } from '../approvals/approval.ts';
import type { ApprovalQuery, GrantQuery } from '../approvals/approval-reader.ts';
import type { StandingGrant } from '../approvals/grant.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import type { Change, Store } from '../store.ts';

export const sampleApproval: Approval = {
  id: 'apr_1',
  state: 'open',
  agent: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
  opId: 't:s',
  actionType: 'tool_call',
  resource: 'shell "quoted" 🦊',
  coverDigest: 'c'.repeat(64),
  covers: 'shell of mcp',
  summary: "it's\na summary",
  runId: 'run-1',
  user: { issuer: 'https://id.example.com', sub: 'u-1', email: 'ann@example.com' },
  action: canonicalJson({ args: { n: 1.5, text: 'a\u0001b', none: null }, tool: 'shell', type: 'tool_call' }),
  digest: 'd'.repeat(64),
  policyRule: 'p/ask',
  rules: ['p/ask', 'acme/also'],
  isGrantable: true,
  allowsSelf: false,
  policyVersion: '0123456789abcdef',
  reason: 'approval required by rule p/ask',
  cause: 'rule',
  approver: 'org',
  costMicros: Number.MAX_SAFE_INTEGER,
  requestedAt: 1000,
  expiresAt: 301_000,
  required: 2,
  verdicts: [
    {
      verdict: 'approve',
      actor: { id: 'abcdefghijkl', kind: 'api_key', label: 'ops' },
      people: ['abcdefghijkl', 'acc_1'],
      isSelfApproved: true,
      reason: 'fine',
      at: 2000,
      grant: { reach: 'until', until: 9000 },
    },
  ],
  decidedAt: null,
  grantId: null,
  signalSequence: null,
  notices: ['requested'],
};

export const sampleGrant: StandingGrant = {
  id: 'grt_1',
  approvalId: 'apr_1',
  agent: { orgId: 'acme', teamId: '', agentId: 'bot' },
  policyRule: 'p/ask',
  rules: ['p/ask', 'acme/also'],
  approvers: 2,
  isSelfApproved: true,
  actionType: 'file_operation',
  resource: '/etc/hosts',
  coverDigest: 'e'.repeat(64),
  covers: 'read /etc/hosts',
  reach: 'run',
  runId: 'run-1',
  grantedAt: 1000,
  grantedBy: { id: 'acc_1', kind: 'account', label: 'a@example.com' },
  reason: '',
  expiresAt: 5000,
  uses: 3,
  lastUsedAt: 1500,
  revokedAt: null,
};

/** An approval with nothing left to do. */
export function settledApproval(id: string, members: Partial<Approval> = {}): Approval {
  return { ...sampleApproval, id, state: 'approved', decidedAt: 2000, notices: [], ...members };
}

function saved(...approvals: readonly Approval[]): Change[] {
  return approvals.map((approval) => ({ kind: 'approval_saved', approval }));
}

function granted(...grants: readonly StandingGrant[]): Change[] {
  return grants.map((grant) => ({ kind: 'grant_saved', grant }));
}

/** What every store must do with approvals and grants, beside keeping them. */
export function approvalConformance(store: () => Store): void {
  const write = async (changes: Change[]) => await store().commit({ entries: [], changes });
  const ids = async (query: Partial<ApprovalQuery>) => {
    const { items, total } = await store().approvals.approvals({ state: 'all', limit: 10, ...query });
    return { ids: items.map(({ id }) => id), total };
  };
  const grantIds = async (query: Partial<GrantQuery>) => {
    const { items, total } = await store().approvals.grants({ state: 'all', now: 3000, limit: 10, ...query });
    return { ids: items.map(({ id }) => id), total };
  };

  describe('approvals', () => {
    test('are found by their id, whole, whether they are live or not', async () => {
      const over = settledApproval('apr_2');
      await write(saved(sampleApproval, over));
      expect(await store().approvals.approval('apr_1')).toEqual(sampleApproval);
      expect(await store().approvals.approval('apr_2')).toEqual(over);
      expect(await store().approvals.approval('apr_3')).toBeUndefined();
    });

    test('are listed by state, the open ones by when they expire, the decided ones the newest first', async () => {
      await write(
        saved(
          { ...sampleApproval, id: 'apr_late', requestedAt: 3, expiresAt: 900 },
          { ...sampleApproval, id: 'apr_soon', requestedAt: 1, expiresAt: 100 },
          { ...sampleApproval, id: 'apr_twin', requestedAt: 2, expiresAt: 100 },
          settledApproval('apr_old', { decidedAt: 5, requestedAt: 4 }),
          settledApproval('apr_new', { decidedAt: 50, requestedAt: 0 }),
          settledApproval('apr_no', { state: 'rejected' }),
        ),
      );
      expect(await ids({ state: 'open' })).toEqual({ ids: ['apr_soon', 'apr_twin', 'apr_late'], total: 3 });
      expect(await ids({ state: 'approved' })).toEqual({ ids: ['apr_new', 'apr_old'], total: 2 });
      expect(await ids({ state: 'expired' })).toEqual({ ids: [], total: 0 });
      const all = ['apr_no', 'apr_old', 'apr_late', 'apr_twin', 'apr_soon', 'apr_new'];
      expect(await ids({})).toEqual({ ids: all, total: 6 });
    });

    test('are listed page by page, each once, also where times are the same', async () => {
      const made = Array.from({ length: 5 }, (_, index) => ({ ...sampleApproval, id: `apr_${index}` }));
      await write(saved(...made));
      for (const state of ['open', 'all'] as const) {
        const seen: string[] = [];
        for (let last: Approval | undefined; ; ) {
          const at = state === 'open' ? last?.expiresAt : last?.requestedAt;
          const after = last === undefined || at === undefined ? {} : { after: { at, id: last.id } };
          const { items, total } = await store().approvals.approvals({ state, limit: 2, ...after });
          expect(total).toBe(5);
          seen.push(...items.map(({ id }) => id));
          last = items.at(-1);
          if (last === undefined) break;
        }
        expect(seen.toSorted()).toEqual(made.map(({ id }) => id));
      }
    });

    test('are narrowed to those who decided, and to when, bounds included', async () => {
      const by = (id: string, label: string, verdict: 'approve' | 'reject' = 'approve') => ({
        ...{ verdict, isSelfApproved: false, people: [], reason: '', at: 1, grant: null },
        actor: { kind: 'account' as const, id, label },
      });
      const [ada, ben, eve] = [
        by('acc_A', 'Ada@example.com'),
        by('key_b', '50%_ben', 'reject'),
        by('acc_e', '50x_ben'),
      ];
      const noisy = canonicalJson({ note: '\nada@example.com\n' });
      await write(
        saved(
          settledApproval('apr_1', { state: 'approved', decidedAt: 1000, verdicts: [ada, eve] }),
          settledApproval('apr_2', { state: 'rejected', decidedAt: 2000, verdicts: [ben], action: noisy }),
          settledApproval('apr_3', { state: 'approved', decidedAt: 3000, verdicts: [ada] }),
          settledApproval('apr_4', { state: 'expired', decidedAt: 2000, verdicts: [ada] }),
          { ...sampleApproval, id: 'apr_5' },
        ),
      );
      const decided = async (query: Partial<ApprovalQuery>) => (await ids({ state: 'decided', ...query })).ids;
      expect(await ids({ state: 'decided', limit: 2 })).toEqual({ ids: ['apr_3', 'apr_2'], total: 3 });
      expect(await decided({ after: { at: 2000, id: 'apr_2' } })).toEqual(['apr_1']);
      for (const decidedBy of ['ada@EXAMPLE.com', 'ACC_a'])
        expect(await decided({ decidedBy })).toEqual(['apr_3', 'apr_1']);
      expect(await decided({ decidedBy: '50%_BEN' })).toEqual(['apr_2']);
      for (const decidedBy of ['ada', '%', 'example.com', '\\', 'acc_'])
        expect(await decided({ decidedBy })).toEqual([]);
      expect(await decided({ from: 2000 })).toEqual(['apr_3', 'apr_2']);
      expect(await decided({ from: 1000, to: 2000 })).toEqual(['apr_2', 'apr_1']);
      expect(await decided({ from: 1001, to: 2999, decidedBy: 'acc_a' })).toEqual([]);
      expect((await ids({ state: 'expired', decidedBy: 'acc_a' })).ids).toEqual(['apr_4']);
    });

    test('are narrowed to a tenant, an agent and a run', async () => {
      const elsewhere = { orgId: 'umbrella', teamId: 'search', agentId: 'bot' };
      await write(saved(sampleApproval, { ...sampleApproval, id: 'apr_2', agent: elsewhere, runId: 'run-2' }));
      expect(await ids({ orgId: 'umbrella' })).toEqual({ ids: ['apr_2'], total: 1 });
      expect(await ids({ orgId: 'acme', teamId: 'search', agentId: 'bot' })).toEqual({ ids: ['apr_1'], total: 1 });
      expect(await ids({ teamId: 'nobody' })).toEqual({ ids: [], total: 0 });
      expect(await ids({ runId: 'run-2' })).toEqual({ ids: ['apr_2'], total: 1 });
    });

    test('are given up when they are old or too many, and never while they have something left to do', async () => {
      await write(
        saved(
          { ...sampleApproval, id: 'apr_open', requestedAt: 0 },
          settledApproval('apr_owing', { decidedAt: 1, signalSequence: 4 }),
          ...[10, 20, 30, 40].map((decidedAt) => settledApproval(`apr_${decidedAt}`, { decidedAt })),
        ),
      );
      await write([{ kind: 'approvals_removed', before: 15, kept: 10, most: 5 }]);
      expect((await ids({})).total).toBe(5);
      await write([{ kind: 'approvals_removed', before: 0, kept: 2, most: 5 }]);
      const left = await ids({});
      expect(left.ids.toSorted()).toEqual(['apr_30', 'apr_40', 'apr_open', 'apr_owing']);
      await write([{ kind: 'approvals_removed', before: 100, kept: 0, most: 1 }]);
      expect((await ids({})).total).toBeLessThan(4);
      expect((await ids({ state: 'open' })).ids).toEqual(['apr_open']);
    });
  });

  describe('grants', () => {
    test('are found by their id, and listed by state and tenant, the newest first', async () => {
      const elsewhere = { orgId: 'umbrella', teamId: '', agentId: 'bot' };
      await write(
        granted(
          sampleGrant,
          { ...sampleGrant, id: 'grt_2', grantedAt: 2000, agent: elsewhere },
          { ...sampleGrant, id: 'grt_over', grantedAt: 10, expiresAt: 3000 },
          { ...sampleGrant, id: 'grt_revoked', grantedAt: 20, revokedAt: 2500 },
        ),
      );
      expect(await store().approvals.grant('grt_1')).toEqual(sampleGrant);
      expect(await store().approvals.grant('grt_9')).toBeUndefined();
      expect(await grantIds({ state: 'active' })).toEqual({ ids: ['grt_2', 'grt_1'], total: 2 });
      expect(await grantIds({ state: 'expired' })).toEqual({ ids: ['grt_over'], total: 1 });
      expect(await grantIds({ state: 'revoked' })).toEqual({ ids: ['grt_revoked'], total: 1 });
      expect(await grantIds({ orgId: 'umbrella' })).toEqual({ ids: ['grt_2'], total: 1 });
      expect(await grantIds({ after: { at: 1000, id: 'grt_1' } })).toEqual({
        ids: ['grt_revoked', 'grt_over'],
        total: 4,
      });
    });

    test('are given up once they have ended long ago', async () => {
      await write(granted(sampleGrant, { ...sampleGrant, id: 'grt_2', revokedAt: 1200 }));
      await write([{ kind: 'approvals_removed', before: 2000, kept: 10, most: 5 }]);
      expect((await grantIds({})).ids).toEqual(['grt_1']);
    });
  });
}
