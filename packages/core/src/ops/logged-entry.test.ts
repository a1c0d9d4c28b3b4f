import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { actionTypes } from '../action/index.ts';
import type { Json } from '../audit/canonical-json.ts';
import { canonicalJson } from '../audit/canonical-json.ts';
import { EntryTimes, ReplayedEntry } from '../audit/replayed-entry.ts';
import { readEntry } from './logged-entry.ts';

/** Texts and keys that look like members of an entry. */
const trap = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '","op_id":"x","payload":{"action":{"type":"tool_call"}',
    ',"lineage":{',
    '"type":"tool_call"}',
    '\\',
    '\\"',
    'op_id',
    'payload',
    'action',
    'lineage',
    'type',
    'digest',
    '{}}]["',
  ),
);
const someJson = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(null, true, 1.5),
    trap,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(trap, tie('json'), { maxKeys: 4 }),
  ),
})).json;

/** Some fall into one minute, and some have years of more than four digits. */
const someTime = fc.oneof(
  fc.integer({ min: 1_794_840_000_000, max: 1_794_840_090_000 }),
  fc.integer({ min: -1e14, max: 1e15 }),
);

const someEntry = fc.record({
  actor: fc.record({ id: trap, kind: fc.constant('agent'), label: trap }),
  at: someTime.map((at) => new Date(at).toISOString()),
  decision: fc.constantFrom('allow', null),
  event_type: fc.constantFrom('ActionAllowed', 'OpStateChanged', 'AgentDeregistered'),
  lineage: fc.record({
    agent_id: trap,
    depth: fc.nat({ max: 3 }),
    org_id: fc.option(trap),
    parent_agent_id: fc.option(trap),
    root_agent_id: trap,
    team_id: trap,
  }),
  op_id: fc.option(fc.oneof(fc.constant('t:s'), trap)),
  payload: fc.record(
    {
      action: fc.record(
        {
          args: fc.dictionary(trap, someJson, { maxKeys: 3 }),
          type: fc.constantFrom(...actionTypes),
          tool: trap,
          url: trap,
        },
        { requiredKeys: ['type'] },
      ),
      approval: someJson,
      cost_micros: fc.nat(),
      digest: trap,
      op_state: fc.constantFrom('running', 'pending'),
      summary: trap,
      payload: someJson,
    },
    { requiredKeys: [] },
  ),
  policy_rule: fc.option(trap),
  policy_version: fc.option(trap),
  prev_hash: fc.constant('0'.repeat(64)),
  reason: fc.option(trap),
  seq: fc.nat(),
  span_id: fc.option(trap),
  trace_id: fc.option(trap),
});

test('what is found in an entry without parsing all of it is what stands there, whatever texts pretend', () => {
  fc.assert(
    fc.property(someEntry, (some) => {
      const canonical = canonicalJson(some);
      const parsed = JSON.parse(canonical) as typeof some;
      const entry = new ReplayedEntry({ seq: 1, canonical });
      expect(entry.type).toBe(parsed.event_type);
      expect(JSON.parse(entry.lineage)).toEqual(parsed.lineage);
      expect(entry.opId).toBe(parsed.op_id);
      const { op_id, policy_rule, reason } = parsed;
      const { action, ...payload } = parsed.payload;
      expect(entry.body).toMatchObject({ op_id, policy_rule, reason, payload: parsed.payload });
      if (op_id === null) return;
      const read = readEntry(new ReplayedEntry({ seq: 1, canonical }));
      expect(read).toMatchObject({ op_id, policy_rule, reason, actionType: action?.type ?? null });
      const { action: _, ...rest } = read.payload as typeof parsed.payload;
      expect(rest).toEqual(payload);
    }),
    { numRuns: 300 },
  );
});

test('the time of an entry is the one that stands there, whatever entries were read before', () => {
  fc.assert(
    fc.property(fc.array(someEntry, { minLength: 1, maxLength: 6 }), (entries) => {
      const times = new EntryTimes();
      for (const entry of entries) expect(times.of({ canonical: canonicalJson(entry) })).toBe(Date.parse(entry.at));
    }),
  );
});
