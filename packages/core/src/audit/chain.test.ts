import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sha256 } from '../testkit/test-governance.ts';
import type { Json } from './canonical-json.ts';
import { canonicalJson } from './canonical-json.ts';
import { emptyChain, sealer } from './chain.ts';
import type { Actor, EntryDraft, SealedEntry } from './entry.ts';
import type { AuditEventType } from './event-types.ts';

const text = fc.string({ unit: 'binary', maxLength: 10 });
/** Includes malformed texts: a caller may send them, and the chain must still hold. */
const anyText = fc.oneof(text, fc.constantFrom('\ud800', 'a\udc00', '\ud83dx', '', '"\\\u0000\u2028'));
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const someDraft: fc.Arbitrary<EntryDraft> = fc.record({
  at: fc.integer({ min: 0, max: 253_402_300_799_999 }),
  eventType: fc.constantFrom<AuditEventType>('ActionAllowed', 'A2AImpersonationAttempted', 'OpStateChanged'),
  // Ids are letters, digits and a few signs, wherever they come from.
  lineage: fc.record({
    agent_id: fc.constantFrom('', 'bot', 'a.b-c_d'),
    depth: fc.nat(),
    org_id: fc.constantFrom('acme', null),
    parent_agent_id: fc.constantFrom('boss', null),
    root_agent_id: fc.constantFrom('', 'boss'),
    team_id: fc.constantFrom('', 'search'),
  }),
  actor: fc.record({ id: anyText, kind: fc.constantFrom<Actor['kind']>('agent', 'api_key', 'system'), label: anyText }),
  opId: orNull(anyText),
  traceId: orNull(anyText),
  spanId: orNull(anyText),
  decision: fc.constantFrom('allow', 'deny', 'pending', null),
  reason: orNull(anyText),
  policyRule: orNull(anyText),
  policyVersion: orNull(anyText),
  payload: fc.dictionary(anyText, fc.oneof(anyText, fc.integer()), { maxKeys: 4 }).map(canonicalJson),
});

function sealAll(drafts: readonly EntryDraft[]): SealedEntry[] {
  const seal = sealer(sha256);
  const entries: SealedEntry[] = [];
  for (const draft of drafts) entries.push(seal(draft, entries.at(-1) ?? emptyChain));
  return entries;
}

/** Contract, section 8: the check that anybody can make with the entries alone. */
function firstBroken(entries: readonly { canonical: string; hash: string }[]): number | undefined {
  let previous = '0'.repeat(64);
  for (const [index, { canonical, hash }] of entries.entries()) {
    const entry = JSON.parse(canonical) as Record<string, Json>;
    const recomputed = sha256(canonicalJson(entry));
    if (recomputed !== hash || entry['prev_hash'] !== previous || entry['seq'] !== index + 1) return index + 1;
    previous = hash;
  }
  return undefined;
}

test('an entry is the canonical JSON of what it says, whatever texts are in it', () => {
  fc.assert(
    fc.property(someDraft, (draft) => {
      const [entry] = sealAll([draft]);
      expect(entry?.canonical).toBe(canonicalJson(JSON.parse(entry?.canonical ?? '') as Json));
    }),
    { numRuns: 500 },
  );
});

test('an entry has the members of the contract, with their values', () => {
  fc.assert(
    fc.property(fc.array(someDraft, { minLength: 1, maxLength: 3 }), (drafts) => {
      const entries = sealAll(drafts);
      const wellFormed = (value: unknown) => JSON.parse(canonicalJson(value as Json)) as unknown;
      for (const [index, entry] of entries.entries()) {
        const { draft } = entry;
        expect(JSON.parse(entry.canonical)).toEqual({
          actor: wellFormed(draft.actor),
          at: new Date(draft.at).toISOString(),
          decision: draft.decision,
          event_type: draft.eventType,
          lineage: wellFormed(draft.lineage),
          op_id: wellFormed(draft.opId),
          payload: JSON.parse(draft.payload) as unknown,
          policy_rule: wellFormed(draft.policyRule),
          policy_version: wellFormed(draft.policyVersion),
          prev_hash: entries[index - 1]?.hash ?? emptyChain.hash,
          reason: wellFormed(draft.reason),
          seq: index + 1,
          span_id: wellFormed(draft.spanId),
          trace_id: wellFormed(draft.traceId),
        });
      }
    }),
    { numRuns: 200 },
  );
});

describe('a chain', () => {
  const someChain = fc.array(someDraft, { minLength: 2, maxLength: 6 }).map(sealAll);

  test('verifies from its entries alone', () => {
    fc.assert(
      fc.property(someChain, (entries) => {
        expect(firstBroken(entries)).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });

  test('breaks at the entry that is changed, taken out or moved', () => {
    fc.assert(
      fc.property(someChain, fc.nat(), (entries, at) => {
        const index = at % entries.length;
        const target = entries[index];
        if (target === undefined) return;
        const forged = { ...target, canonical: target.canonical.replace('"actor":{', '"actor":{"a":0,') };
        expect(firstBroken(entries.with(index, forged))).toBe(index + 1);
        const rehashed = { ...forged, hash: sha256(forged.canonical) };
        const broken = firstBroken(entries.with(index, rehashed));
        expect(broken).toBe(index + 1 === entries.length ? undefined : index + 2);
        if (index + 1 < entries.length) expect(firstBroken(entries.toSpliced(index, 1))).toBe(index + 1);
        expect(firstBroken(entries.toReversed())).toBe(1);
      }),
      { numRuns: 100 },
    );
  });
});
