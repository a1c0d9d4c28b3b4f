import { expect, test } from 'vitest';
import type { Entry } from '../ops/history-words.ts';
import { countsText, recordOf } from './step-record.ts';

const agent = { org_id: 'acme', team_id: 'core', agent_id: 'bot' };
const at = '2026-11-18T02:00:00.000Z';

const entry = (seq: number, event_type: string, changed: Partial<Entry> = {}): Entry =>
  ({
    seq,
    event_type,
    at,
    lineage: { ...agent, parent_agent_id: null, depth: 0 },
    decision: null,
    payload: {},
    ...changed,
  }) as Entry;

test('the record of a step is its decision of that moment and the verdicts on its results, of its agent alone', () => {
  const decided = { decision: 'allow' as const, payload: { action: { type: 'tool_call' } } };
  const other = { ...agent, agent_id: 'other', parent_agent_id: null, depth: 0 };
  const { decided: found, results } = recordOf({ agent, at }, [
    entry(9, 'ResultMasked', { decision: 'allow', lineage: other as Entry['lineage'] }),
    entry(8, 'ResultMasked', { decision: 'allow' }),
    entry(7, 'OpStateChanged'),
    entry(6, 'ActionAllowed', { ...decided, at: '2026-11-18T03:00:00.000Z' }),
    entry(5, 'ActionAllowed', decided),
  ]);
  expect(found?.seq).toBe(5);
  expect(results.map(({ seq }) => seq)).toEqual([8]);
});

test('what was replaced is told by counts', () => {
  expect(countsText({ counts: { email: 2, card: 1 } })).toBe('2 email, 1 card');
  expect(countsText({})).toBe('');
});
