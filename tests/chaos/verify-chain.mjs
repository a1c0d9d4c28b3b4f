#!/usr/bin/env node
// Verifies the audit chain of a data folder. Written apart from the gateway, from the contract alone: it shares no code
// with what it checks. Usage: node tests/chaos/verify-chain.mjs <data folder>
//
// A log that does not start with its first entry was cut. That is in order only where an AuditLogCut entry of the same
// log vouches for it: a signature, by a key of the gateway, over the sequence and the hash of the last entry given up.
import { createHash, createPublicKey, verify } from 'node:crypto';
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

/** The public keys of the gateway, by kid. */
function signingKeys(db) {
  const rows = db.prepare('SELECT kid, public_jwk FROM signing_keys').all();
  return new Map(rows.map((row) => [row.kid, createPublicKey({ key: JSON.parse(row.public_jwk), format: 'jwk' })]));
}

/** Whether a cut is what a key of the gateway has signed: a compact JWS over the canonical JSON of it. */
function isSigned(cut, signature, keys) {
  const [head = '', text = '', signed = ''] = String(signature).split('.');
  const decode = (part) => Buffer.from(part, 'base64url');
  let header;
  try {
    header = JSON.parse(decode(head).toString());
  } catch {
    return false;
  }
  const key = keys.get(header.kid);
  return (
    header.alg === 'EdDSA' &&
    key !== undefined &&
    decode(text).toString() === canonical(cut) &&
    verify(null, Buffer.from(`${head}.${text}`), key, decode(signed))
  );
}

/**
 * Where the chain of this log starts: at its first entry, or right after the last one that was given up. While entries
 * are being removed, some that a cut has given up are still there: they must lead up to what it vouches for.
 */
function start(db, first) {
  if (first === undefined || first.seq === 1) return { seq: 1, prev: '0'.repeat(64) };
  const keys = signingKeys(db);
  const hashOf = db.prepare('SELECT hash FROM audit WHERE seq = ?');
  for (const row of db.prepare(`SELECT canonical FROM audit WHERE event_type = 'AuditLogCut'`).iterate()) {
    const { event_type, payload } = JSON.parse(row.canonical);
    const { through_hash, through_seq, signature } = payload;
    if (event_type !== 'AuditLogCut' || !isSigned({ through_hash, through_seq }, signature, keys)) continue;
    const prev = JSON.parse(first.canonical).prev_hash;
    const adjoins = through_seq === first.seq - 1 && through_hash === prev;
    const covers = through_seq >= first.seq && hashOf.get(through_seq)?.hash === through_hash;
    if (adjoins || covers) return { seq: first.seq, prev };
  }
  return undefined;
}

function refuse(seq, problem) {
  process.stderr.write(`entry ${seq} is broken: ${problem}\n`);
  process.exit(1);
}

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: verify-chain.mjs <data folder>\n');
  process.exit(2);
}
const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
// One snapshot, so that a log that is being written and cut meanwhile is looked at as it is now.
db.exec('BEGIN');
const first = db.prepare('SELECT seq, canonical FROM audit ORDER BY seq LIMIT 1').get();
let expected = start(db, first);
if (expected === undefined) refuse(first.seq, 'the log starts with it, and nothing vouches for what was before');
const before = expected.seq - 1;
for (const row of db.prepare('SELECT seq, hash, canonical FROM audit ORDER BY seq').iterate()) {
  const problem = fault(row, JSON.parse(row.canonical), expected);
  if (problem !== undefined) refuse(row.seq, problem);
  expected = { seq: row.seq + 1, prev: row.hash };
}
const count = expected.seq - 1 - before;
process.stdout.write(`${count} entries, unbroken${before > 0 ? `, after a signed cut at ${before}` : ''}\n`);
