#!/usr/bin/env node
// Verifies the audit chain of a data folder, or of a PostgreSQL database. It shares no code with the gateway: it was
// written from the contract alone.
// Usage: node tests/chaos/verify-chain.mjs <data folder>, or with the URL of the database in DATABASE_URL.
//
// A log that does not start with its first entry was cut. A cut is valid only if an AuditLogCut entry of the same log
// vouches for it: a gateway key signs the sequence and the hash of the last removed entry.
import { createHash, createPublicKey, verify } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { Client } from 'pg';

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

/** The embedded store, read in one snapshot, so that concurrent writes and cuts do not matter. */
function openFolder(folder) {
  const db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  db.exec('BEGIN');
  unpack(db);
  return {
    all: (sql, ...values) => Promise.resolve(db.prepare(sql).all(...values)),
    close: () => Promise.resolve(db.close()),
  };
}

/**
 * Old entries are packed into blocks. They come before the rows in a temporary table, which then stands for both. The
 * first line of a block says how many bytes each of its entries takes; an entry is a line with its columns, and its text.
 */
function unpack(db) {
  const isTable = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'audit_blocks'`).get() !== undefined;
  const blocks = isTable ? db.prepare('SELECT first_seq, entries FROM main.audit_blocks').all() : [];
  if (blocks.length === 0) return;
  db.exec('CREATE TEMP TABLE audit (seq INTEGER PRIMARY KEY, event_type, hash, canonical)');
  const insert = db.prepare('INSERT INTO temp.audit VALUES (?, ?, ?, ?)');
  for (const block of blocks) {
    const text = zstdDecompressSync(block.entries);
    let at = text.indexOf('\n') + 1;
    const { columns, bytes } = JSON.parse(text.toString('utf8', 0, at));
    for (const [place, length] of bytes.entries()) {
      const end = text.indexOf('\n', at);
      const values = JSON.parse(text.toString('utf8', at, end));
      const value = (name) => values[columns.indexOf(name)];
      const canonicalText = text.toString('utf8', end + 1, at + length);
      insert.run(block.first_seq + place, value('event_type'), value('hash'), canonicalText);
      at += length;
    }
  }
  db.exec('INSERT INTO temp.audit SELECT seq, event_type, hash, canonical FROM main.audit');
}

/** The same for a PostgreSQL database. */
async function openDatabase(connectionString) {
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  // A sequence has 64 bits, which the driver returns as text.
  const asRead = (row) => ('seq' in row ? { ...row, seq: Number(row.seq) } : row);
  return {
    all: async (sql, ...values) => (await client.query(sql.replace('?', '$1'), values)).rows.map(asRead),
    close: () => client.end(),
  };
}

/** Every entry, oldest first, a page at a time. */
async function* entriesOf(db) {
  for (let after = 0; ; ) {
    const rows = await db.all('SELECT seq, hash, canonical FROM audit WHERE seq > ? ORDER BY seq LIMIT 5000', after);
    yield* rows;
    if (rows.length === 0) return;
    after = rows.at(-1).seq;
  }
}

/** The public keys of the gateway, by kid. */
async function signingKeys(db) {
  const rows = await db.all('SELECT kid, public_jwk FROM signing_keys');
  return new Map(rows.map((row) => [row.kid, createPublicKey({ key: JSON.parse(row.public_jwk), format: 'jwk' })]));
}

/** Whether a gateway key signed a cut: a compact JWS over its canonical JSON. */
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
 * Where the chain of this log starts: at its first entry, or right after the last removed one. During removal, some
 * entries before a cut are still there. They must lead up to what the cut vouches for.
 */
async function start(db, first) {
  if (first === undefined || first.seq === 1) return { seq: 1, prev: '0'.repeat(64) };
  const keys = await signingKeys(db);
  const hashOf = async (seq) => (await db.all('SELECT hash FROM audit WHERE seq = ?', seq))[0]?.hash;
  for (const row of await db.all(`SELECT canonical FROM audit WHERE event_type = 'AuditLogCut'`)) {
    const { event_type, payload } = JSON.parse(row.canonical);
    const { through_hash, through_seq, signature } = payload;
    if (event_type !== 'AuditLogCut' || !isSigned({ through_hash, through_seq }, signature, keys)) continue;
    const prev = JSON.parse(first.canonical).prev_hash;
    const adjoins = through_seq === first.seq - 1 && through_hash === prev;
    const covers = through_seq >= first.seq && (await hashOf(through_seq)) === through_hash;
    if (adjoins || covers) return { seq: first.seq, prev };
  }
  return undefined;
}

function refuse(seq, problem) {
  process.stderr.write(`entry ${seq} is broken: ${problem}\n`);
  process.exit(1);
}

const folder = process.argv[2];
const url = process.env.DATABASE_URL;
if (folder === undefined && url === undefined) {
  process.stderr.write('usage: verify-chain.mjs <data folder>, or DATABASE_URL=postgres://... verify-chain.mjs\n');
  process.exit(2);
}
const db = folder === undefined ? await openDatabase(url) : openFolder(folder);
const [first] = await db.all('SELECT seq, canonical FROM audit ORDER BY seq LIMIT 1');
let expected = await start(db, first);
if (expected === undefined) refuse(first.seq, 'the log starts with it, and nothing vouches for what was before');
const before = expected.seq - 1;
for await (const row of entriesOf(db)) {
  const problem = fault(row, JSON.parse(row.canonical), expected);
  if (problem !== undefined) refuse(row.seq, problem);
  expected = { seq: row.seq + 1, prev: row.hash };
}
await db.close();
const count = expected.seq - 1 - before;
process.stdout.write(`${count} entries, unbroken${before > 0 ? `, after a signed cut at ${before}` : ''}\n`);
