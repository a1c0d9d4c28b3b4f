import { describe, expect, test } from 'vitest';
import type { BulkControl } from '../control/bulk-control.ts';
import type { Departure } from '../control/departures.ts';
import type { RunControl } from '../control/run-controls.ts';
import type { Receipt } from '../ops/receipt.ts';
import type { SavedOp } from '../ops/ops-slice.ts';
import type { Change, Store } from '../store.ts';
import type { ScopeSuspension } from '../tenancy/scope-suspensions.ts';
import type { AgentId } from '../kernel/ids.ts';

export const sampleReceipt: Receipt = {
  id: 'ctl_1',
  bulkId: null,
  agent: { orgId: 'acme', teamId: 'search', agentId: 'bot' },
  opId: 't1:s1',
  action: 'terminate',
  actor: { id: 'abcdefghijkl', kind: 'api_key', label: 'ci "deploy" 🦊' },
  reason: "it's\nrunaway",
  cause: 'suspension',
  width: 'team',
  owed: true,
  sequence: Number.MAX_SAFE_INTEGER,
  requestedAt: 1_700_000_000_000,
  deliveredAt: 1_700_000_000_001,
  ackedAt: null,
  effectiveAt: null,
  status: 'delivered',
  detail: '',
  waiting: true,
  blocks: false,
  floor: true,
  processes: 3,
};

export const sampleBulk: BulkControl = {
  id: 'ctl_b',
  action: 'pause',
  scope: { orgId: 'acme', runId: 'r "1"' },
  reason: 'ünder repair',
  actor: { id: 'abcdefghijkl', kind: 'api_key', label: '' },
  orgId: 'acme',
  teamId: null,
  requestedAt: 1_700_000_000_000,
  matched: 3,
  changed: 2,
  skipped: 1,
  done: true,
  idempotency: { key: 'k'.repeat(64), digest: 'd'.repeat(64) },
};

export const sampleRunControl: RunControl = {
  runId: 'r "1"',
  orgId: 'acme',
  teamId: null,
  agentId: '',
  action: 'terminate',
  controlId: 'ctl_b',
  actor: { id: 'abcdefghijkl', kind: 'api_key', label: 'ünder' },
  imposedBy: { orgId: 'acme', teamId: null },
  at: 1_700_000_000_000,
  refusedAt: null,
};

export const sampleDeparture: Departure = {
  orgId: 'acme',
  teamId: 'search',
  agentId: null,
  credentialId: 'abcdefghijkl',
  at: 1_700_000_000_000,
};

export const sampleSuspension: ScopeSuspension = {
  id: 'sus_1',
  orgId: 'acme',
  teamId: null,
  action: 'pause',
  actor: { id: 'abcdefghijkl', kind: 'api_key', label: 'ünder' },
  credentialId: 'abcdefghijkl',
  imposedBy: { orgId: 'acme', teamId: null },
  reason: 'an "incident"',
  since: 1_700_000_000_000,
  operations: { matched: 3, changed: 2, skipped: 1, controlId: 'ctl_b' },
  isSettled: true,
  lifted: null,
};

/** A receipt with nothing left to happen. */
function settledReceipt(id: string, members: Partial<Receipt> = {}): Receipt {
  const sequence = Array.from(id).reduce((sum, queued) => (sum * 31 + queued.charCodeAt(0)) % 1_000_000_007, 7);
  return { ...sampleReceipt, id, sequence, status: 'effective', waiting: false, ...members };
}

function saved(...receipts: readonly Receipt[]): Change[] {
  return receipts.map((receipt) => ({ kind: 'receipt_saved', receipt }));
}

/** What every store must do with controls. */
export function controlConformance(open: () => Store, sampleOp: SavedOp): void {
  const ids = (receipts: readonly Receipt[]) => receipts.map(({ id }) => id);
  const write = async (...changes: readonly Change[]) => {
    await open().commit({ entries: [], changes });
  };

  describe('reads what it keeps of controls', () => {
    test('a receipt by its id, by many ids, and by agent and sequence, also when it is settled', async () => {
      const one = settledReceipt('ctl_one');
      const other: AgentId = { ...one.agent, orgId: '' };
      const two = settledReceipt('ctl_two', { agent: other, sequence: one.sequence });
      await write(...saved(one, two));
      expect(await open().receipt('ctl_one')).toEqual(one);
      expect(await open().receiptOf(one.agent, one.sequence)).toEqual(one);
      expect(await open().receiptOf(other, one.sequence)).toEqual(two);
      expect(await open().receiptOf(one.agent, one.sequence + 1)).toBeUndefined();
      expect(ids(await open().receipts(['ctl_two', 'ctl_none', 'ctl_one'])).sort()).toEqual(['ctl_one', 'ctl_two']);
      expect(await open().receipts([])).toEqual([]);
      expect(await open().receipt('ctl_none')).toBeUndefined();
    });

    test('a receipt as it was last saved', async () => {
      await write(...saved(sampleReceipt));
      const acked: Receipt = { ...sampleReceipt, status: 'acked', ackedAt: 5, waiting: false, detail: 'stopping' };
      await write(...saved(acked));
      expect(await open().receipt(sampleReceipt.id)).toEqual(acked);
      expect((await open().load()).receipts).toEqual([]);
    });

    test('the receipts of a scoped control, by id, a page at a time, and their numbers by status', async () => {
      const parts = ['a', 'b', 'c', 'd'].map((queued) => settledReceipt(`ctl_b_${queued}`, { bulkId: 'ctl_b' }));
      const [, , third] = parts;
      if (third === undefined) throw new Error('there are four');
      await write(
        ...saved(...parts.toReversed(), settledReceipt('ctl_x_a', { bulkId: 'ctl_x' }), settledReceipt('ctl_z')),
        ...saved({ ...third, status: 'failed' }),
      );
      expect(ids(await open().receiptsOfBulk('ctl_b', '', 3))).toEqual(['ctl_b_a', 'ctl_b_b', 'ctl_b_c']);
      expect(ids(await open().receiptsOfBulk('ctl_b', 'ctl_b_c', 3))).toEqual(['ctl_b_d']);
      expect(await open().receiptsOfBulk('ctl_b', 'ctl_b_d', 3)).toEqual([]);
      expect(await open().countsOfBulk('ctl_b')).toEqual({ effective: 3, failed: 1 });
      expect(await open().countsOfBulk('ctl_none')).toEqual({});
    });

    test('a scoped control by its id, whether it is finished or not', async () => {
      const running: BulkControl = { ...sampleBulk, id: 'ctl_r', done: false, idempotency: null, orgId: null };
      await write({ kind: 'bulk_control_saved', bulk: sampleBulk }, { kind: 'bulk_control_saved', bulk: running });
      expect(await open().bulk('ctl_b')).toEqual(sampleBulk);
      expect(await open().bulk('ctl_r')).toEqual(running);
      expect(await open().bulk('ctl_none')).toBeUndefined();
    });
  });

  test('gives up old receipts, the oldest first, but none that waits, blocks or has its operation', async () => {
    const at = (requestedAt: number) => ({ requestedAt, opId: 'gone:gone' });
    await write(
      ...saved(
        settledReceipt('ctl_2', at(2)),
        settledReceipt('ctl_1', at(1)),
        settledReceipt('ctl_3', at(3)),
        settledReceipt('ctl_waits', { ...at(1), waiting: true }),
        settledReceipt('ctl_blocks', { ...at(1), blocks: true, status: 'failed' }),
        settledReceipt('ctl_has_op', { requestedAt: 1, agent: sampleOp.agent, opId: sampleOp.opId }),
        settledReceipt('ctl_young', at(100)),
      ),
      { kind: 'op_saved', op: sampleOp },
      { kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_old', requestedAt: 1 } },
      { kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_new', requestedAt: 100 } },
    );
    const all = ['ctl_1', 'ctl_2', 'ctl_3', 'ctl_blocks', 'ctl_has_op', 'ctl_waits', 'ctl_young'];
    const left = async () => ids(await open().receipts(all)).sort();
    await write({ kind: 'receipts_removed', before: 100, most: 2 });
    expect(await left()).toEqual(['ctl_3', 'ctl_blocks', 'ctl_has_op', 'ctl_waits', 'ctl_young']);
    await write({ kind: 'receipts_removed', before: 100, most: 2 });
    await write({ kind: 'receipts_removed', before: 100, most: 2 });
    expect(await left()).toEqual(['ctl_blocks', 'ctl_has_op', 'ctl_waits', 'ctl_young']);
    expect(await open().bulk('ctl_old')).toBeUndefined();
    expect(await open().bulk('ctl_new')).toBeDefined();
    await write({ kind: 'op_removed', id: sampleOp.agent, opId: sampleOp.opId });
    await write({ kind: 'receipts_removed', before: 100, most: 2 });
    expect(await left()).toEqual(['ctl_blocks', 'ctl_waits', 'ctl_young']);
  });

  test('keeps the controls of runs, one for each reach and width, as they were last saved', async () => {
    const operators = { ...sampleRunControl, controlId: 'ctl_o', imposedBy: { orgId: null, teamId: null } };
    const everywhere = { ...operators, orgId: null, agentId: null };
    const all = [sampleRunControl, operators, everywhere];
    await write(...all.map((control): Change => ({ kind: 'run_control_saved', control })));
    const paused = { ...operators, action: 'pause' as const, controlId: 'ctl_p' };
    await write({ kind: 'run_control_saved', control: paused });
    await write({ kind: 'run_control_used', control: { ...sampleRunControl, refusedAt: 5 } });
    await write({ kind: 'run_control_removed', control: everywhere });
    const byId = (one: RunControl, other: RunControl) => (one.controlId < other.controlId ? -1 : 1);
    expect((await open().load()).runControls.toSorted(byId)).toEqual([{ ...sampleRunControl, refusedAt: 5 }, paused]);
  });

  test('keeps the suspensions of scopes as they were last saved, until they are removed', async () => {
    const everything = { ...sampleSuspension, id: 'sus_2', orgId: null };
    const team = { ...sampleSuspension, id: 'sus_3', teamId: 'red' };
    const saved = (suspension: ScopeSuspension): Change => ({ kind: 'suspension_saved', suspension });
    await write(...[sampleSuspension, everything, team].map(saved));
    const { actor, imposedBy } = sampleSuspension;
    const lifted = { ...team, lifted: { actor, imposedBy, reason: '', at: 5 } };
    await write(saved(lifted), { kind: 'suspension_removed', suspension: everything });
    const byId = (one: ScopeSuspension, other: ScopeSuspension) => (one.id < other.id ? -1 : 1);
    expect((await open().load()).suspensions.toSorted(byId)).toEqual([sampleSuspension, lifted]);
  });

  test('remembers what was asked for under a key once it is finished, and nothing else', async () => {
    await write(
      { kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_1', done: false } },
      { kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_2', idempotency: null } },
      { kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_3', done: false } },
    );
    await write({ kind: 'bulk_control_saved', bulk: { ...sampleBulk, id: 'ctl_3', changed: 1, skipped: 2 } });
    expect((await open().load()).bulkControls).toEqual([{ ...sampleBulk, id: 'ctl_3', changed: 1, skipped: 2 }]);
  });
}
