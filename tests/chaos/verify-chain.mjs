#!/usr/bin/env node
// Verifies the audit chain of a data folder. Written apart from the gateway, from the contract alone: it shares no code
// with what it checks. Usage: node tests/chaos/verify-chain.mjs <data folder>
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
    return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

const members = [
  'seq',
  'at',
  'event_type',
  'lineage',
  'actor',
  'op_id',
  'trace_id',
  'span_id',
  'decision',
  'reason',
  'policy_rule',
  'policy_version',
  'payload',
  'prev_hash',
];

function fault(row, entry, expected) {
  if (entry.seq !== expected.seq || row.seq !== expected.seq)
    return `the sequence is ${entry.seq} instead of ${expected.seq}`;
  if (entry.prev_hash !== expected.prev) return 'it does not link to the entry before it';
  const present = Object.keys(entry).sort().join();
  if (present !== [...members].sort().join()) return `its members are ${present}`;
  const hash = createHash('sha256').update(canonical(entry), 'utf8').digest('hex');
  if (hash !== row.hash) return 'its hash does not fit its content';
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(entry.at)) return `its time is ${entry.at}`;
  if (![null, 'allow', 'deny', 'pending'].includes(entry.decision)) return `its decision is ${entry.decision}`;
  return undefined;
}

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: verify-chain.mjs <data folder>\n');
  process.exit(2);
}
const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
let expected = { seq: 1, prev: '0'.repeat(64) };
for (const row of db.prepare('SELECT seq, hash, canonical FROM audit ORDER BY seq').iterate()) {
  const problem = fault(row, JSON.parse(row.canonical), expected);
  if (problem !== undefined) {
    process.stderr.write(`entry ${row.seq} is broken: ${problem}\n`);
    process.exit(1);
  }
  expected = { seq: row.seq + 1, prev: row.hash };
}
process.stdout.write(`${expected.seq - 1} entries, unbroken\n`);
