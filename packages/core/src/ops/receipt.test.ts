import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentId, operator } from '../testkit/requests.ts';
import type { AckOutcome, ControlWord, Receipt, ReceiptStatus } from './receipt.ts';
import { acknowledged, delivered, evidenceOf, givenUp, isAnswered, lifted, unconfirmed } from './receipt.ts';

const fresh: Receipt = {
  id: 'ctl_1',
  bulkId: null,
  agent: agentId('acme/search/bot'),
  opId: 't:s',
  action: 'pause',
  actor: operator.actor,
  reason: '',
  cause: 'operator',
  width: 'unbound',
  owed: false,
  sequence: 1,
  requestedAt: 0,
  deliveredAt: null,
  ackedAt: null,
  effectiveAt: null,
  status: 'requested',
  detail: '',
  waiting: true,
  blocks: false,
  floor: false,
  processes: null,
};

type Step =
  | { readonly do: 'deliver' }
  | { readonly do: 'give up' }
  | { readonly do: 'lift' }
  | { readonly do: 'time out'; readonly blocks: boolean }
  | { readonly do: 'ack'; readonly outcome: AckOutcome; readonly processes: number | null };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step>({ do: 'deliver' }, { do: 'give up' }, { do: 'lift' }),
  fc.boolean().map((blocks): Step => ({ do: 'time out', blocks })),
  fc.record({
    do: fc.constant('ack' as const),
    outcome: fc.constantFrom<AckOutcome>('received', 'effective', 'failed'),
    processes: fc.constantFrom(null, 0, 3),
  }),
);

function take(receipt: Receipt, step: Step, at: number): Receipt {
  if (step.do === 'deliver') return delivered(receipt, at);
  if (step.do === 'give up') return givenUp(receipt, 'overtaken');
  if (step.do === 'lift') return lifted(receipt);
  if (step.do === 'time out') return unconfirmed(receipt, 'late', step.blocks);
  return acknowledged(receipt, word(step.outcome, 'said', step.processes), at);
}

function word(outcome: AckOutcome, detail = '', processes: number | null = null): ControlWord {
  return { outcome, detail, processes };
}

/** How much is known. A status never falls back to an earlier one. */
const rank: Readonly<Record<ReceiptStatus, number>> = {
  requested: 0,
  delivered: 1,
  unconfirmed: 2,
  acked: 3,
  failed: 4,
  effective: 5,
};

/** The status that must follow from all steps, in whatever order. */
function expectedStatus(steps: readonly Step[]): ReceiptStatus {
  const said = (outcome: AckOutcome) => steps.some((step) => step.do === 'ack' && step.outcome === outcome);
  if (said('effective')) return 'effective';
  if (said('failed')) return 'failed';
  if (said('received')) return 'acked';
  if (steps.some((step) => step.do === 'time out' || step.do === 'give up')) return 'unconfirmed';
  return steps.some((step) => step.do === 'deliver') ? 'delivered' : 'requested';
}

/** Of an effect the kernel's word counts if it ever came, of all else the first word that moved the receipt. */
function expectedEvidence(steps: readonly Step[]): string {
  const words = steps.flatMap((step) => (step.do === 'ack' ? [step] : []));
  const effective = words.filter(({ outcome }) => outcome === 'effective');
  const [first] = [...words.filter(({ outcome }) => outcome === 'failed'), ...words];
  const isKernel =
    effective.length === 0 ? first?.processes != null : effective.some(({ processes }) => processes !== null);
  return first === undefined ? 'none' : isKernel ? 'kernel' : 'agent';
}

test('whatever happens in whatever order, a receipt never goes back, and ends with the truth', () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 12 }), (steps) => {
      let receipt = fresh;
      for (const [index, step] of steps.entries()) {
        const after = take(receipt, step, index + 1);
        expect(rank[after.status]).toBeGreaterThanOrEqual(rank[receipt.status]);
        for (const member of ['deliveredAt', 'ackedAt', 'effectiveAt'] as const) {
          if (receipt[member] !== null) expect(after[member]).toBe(receipt[member]);
        }
        if (!receipt.waiting) expect(after.waiting).toBe(false);
        receipt = after;
      }
      expect(receipt.status).toBe(expectedStatus(steps));
      expect(receipt.ackedAt !== null).toBe(isAnswered(receipt));
      expect(receipt.effectiveAt !== null).toBe(receipt.status === 'effective');
      expect(receipt.deliveredAt !== null).toBe(steps.some((step) => step.do === 'deliver'));
      expect(evidenceOf(receipt)).toBe(expectedEvidence(steps));
      if (isAnswered(receipt)) expect(receipt.waiting).toBe(false);
      if (receipt.status === 'acked' || receipt.status === 'effective') expect(receipt.blocks).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('the same word twice is no news', () => {
  for (const outcome of ['received', 'effective', 'failed'] as const) {
    const once = acknowledged(fresh, word(outcome, 'said'), 1);
    expect(acknowledged(once, word(outcome, 'said again'), 2)).toBe(once);
  }
});

test('a block ends with an acknowledgement, not with a failure', () => {
  const blocked = unconfirmed(fresh, 'late', true);
  expect(acknowledged(blocked, word('failed'), 1)).toMatchObject({ status: 'failed', blocks: true });
  expect(acknowledged(blocked, word('received'), 1)).toMatchObject({ status: 'acked', blocks: false });
  const failed = acknowledged(blocked, word('failed'), 1);
  expect(acknowledged(failed, word('effective'), 2)).toMatchObject({ status: 'effective', blocks: false, ackedAt: 1 });
});
