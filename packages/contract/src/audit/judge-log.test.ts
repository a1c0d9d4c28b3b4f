import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import type { SaidToBe } from './judge-log.ts';
import { judgeLog } from './judge-log.ts';
import { EntryVerifier, zeros } from './verify-entries.ts';

/** A log of these entries, as an export has it. */
function chainOf(contents: readonly object[]): readonly string[] {
  let prevHash = zeros;
  return contents.map((content, nth) => {
    const entry = { ...content, seq: nth + 1, prev_hash: prevHash };
    prevHash = sha256(canonicalJson(entry));
    return JSON.stringify({ ...entry, hash: prevHash });
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function judged(lines: readonly string[], saidToBe?: SaidToBe) {
  const verifier = new EntryVerifier();
  for (const line of lines) {
    const entry = verifier.read(line);
    if (entry !== undefined) verifier.take(entry, sha256(entry.canonical));
  }
  return judgeLog(verifier, () => false, saidToBe);
}

/** By everything that an export can be filtered by, of ten entries all but the seventh are the same. */
const filters = [
  ['org', 'lineage', { org_id: 'acme' }, { org_id: 'other' }],
  ['team', 'lineage', { team_id: 'search' }, { team_id: '' }],
  ['agent', 'lineage', { agent_id: 'bot' }, { agent_id: 'other' }],
  ['type', 'event_type', 'ActionAllowed', 'ActionDenied'],
  ['decision', 'decision', 'allow', null],
  ['operation', 'op_id', 't:s', null],
] as const;

test.each(filters)(
  'an export of one %s that begins with entry 1 is a part, however many of it link',
  async (_, name, one, other) => {
    const lines = chainOf(Array.from({ length: 10 }, (__, nth) => ({ [name]: nth === 6 ? other : one, at: nth })));
    const part = lines.toSpliced(6, 1);
    expect(await judged(lines)).toMatchObject({ result: 'unbroken', entries: 10 });
    expect(await judged(part)).toMatchObject({
      ...{ result: 'not_checkable', entries: 9, broken_seq: null },
      why: 'it is a part of the log: entries are missing, the first after 6',
    });
    expect(await judged(part, 'whole')).toMatchObject({ result: 'broken', broken_seq: 8 });
    // What can be verified is: each hash, and the links between neighbours.
    const forged = { ...(JSON.parse(part[3] ?? '') as object), at: 99, hash: undefined };
    const line = JSON.stringify({ ...forged, hash: sha256(canonicalJson(JSON.parse(JSON.stringify(forged)))) });
    expect(await judged(part.with(3, line))).toMatchObject({ result: 'broken', broken_seq: 5 });
    expect(await judged(part.with(3, line), 'part')).toMatchObject({ result: 'broken', broken_seq: 5 });
  },
);

test('a log whose entries have nothing in common has lost those that are missing, unless it is said to be a part', async () => {
  const types = ['ApiKeyCreated', 'AgentRegistered', 'ActionAllowed'];
  const lines = chainOf(Array.from({ length: 10 }, (_, nth) => ({ event_type: types[nth % 3], decision: null })));
  const part = lines.toSpliced(6, 1);
  expect(await judged(part)).toMatchObject({ result: 'broken', broken_seq: 8 });
  expect(await judged(part, 'part')).toMatchObject({ result: 'not_checkable', broken_seq: null });
});
