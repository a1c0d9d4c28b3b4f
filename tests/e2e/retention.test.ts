import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONWebKeySet, JWK } from 'jose';
import { CompactSign, compactVerify, createLocalJWKSet, decodeProtectedHeader, generateKeyPair, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { readAuditLog } from '../harness/audit-log.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, TestGateway, toolCall } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

const kept = 30;
const env = {
  SVC_AUDIT_RETAIN_ENTRIES: String(kept),
  SVC_OPS_SWEEP_TICK_SECS: '0.1',
  SVC_OPS_TTL_SECS: '0.2',
};
const old = { traceId: 'old', spanId: 'op', context: toolCall('search', { q: 'kept' }) };

let gateway: TestGateway;
let agent: Registered;
let firstSpan: string;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent, old);
  firstSpan = (await gateway.check(agent)).opId;
  for (let i = 0; i < 100; i++) await gateway.check(agent, { traceId: 'many', spanId: `${i}` });
  await settled(gateway);
});
afterAll(() => gateway[Symbol.asyncDispose]());

function cutOf(entries: readonly LoggedEntry[]): LoggedEntry {
  const cut = entries.findLast((entry) => entry.event_type === 'AuditLogCut');
  if (cut === undefined) throw new Error('the log was not cut');
  return cut;
}

/** Waits until the log stops shrinking. A cut waits until what has happened in runs is saved, twice a minute. */
async function settled(from: TestGateway): Promise<void> {
  await eventually(() => {
    const entries = from.audit();
    expect(entries.length).toBeLessThanOrEqual(kept + kept / 10 + 1);
    expect(entries[0]?.seq).toBe(Number(cutOf(entries).payload['through_seq']) + 1);
  }, 1200);
}

test('only the newest entries are kept, behind an entry that names the last one given up', () => {
  const entries = gateway.audit();
  expect(entries.length).toBeGreaterThanOrEqual(kept);
  expect(entries.at(-1)?.seq).toBeGreaterThan(100);
  const { payload, actor, lineage } = cutOf(entries);
  expect(actor).toMatchObject({ kind: 'system' });
  expect(lineage.org_id).toBeNull();
  expect(payload).toMatchObject({
    through_seq: (entries[0]?.seq ?? 0) - 1,
    through_hash: entries[0]?.prev_hash,
    removed: expect.any(Number),
  });
});

test('the cut is signed with a published key, and what is left verifies from there', async () => {
  const { payload } = cutOf(gateway.audit());
  const { body: jwks } = await gateway.api.get<JSONWebKeySet>('/.well-known/jwks.json');
  const signature = String(payload['signature']);
  expect(decodeProtectedHeader(signature)).toEqual({ alg: 'EdDSA', kid: jwks.keys[0]?.kid });
  const signed = await compactVerify(signature, createLocalJWKSet(jwks));
  const { through_hash, through_seq } = payload;
  expect(Buffer.from(signed.payload).toString()).toBe(JSON.stringify({ through_hash, through_seq }));
  expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  expect(verifyChain(gateway.folder).says).toContain('after a signed cut at');
});

test('an idle gateway cuts no further: its own cuts do not push out what happened', async () => {
  const before = gateway.audit();
  await sleep(1500); // Many sweeps.
  expect(gateway.audit()).toEqual(before);
  expect(before.filter((entry) => entry.event_type === 'ActionAllowed').length).toBeGreaterThan(kept / 2);
});

test('lists and exports have what is left and nothing of what is gone', async () => {
  const entries = gateway.audit();
  const { text } = await gateway.api.get('/api/v1/logs/export', bootstrapKey);
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LoggedEntry),
  ).toEqual(entries);
  const find = async (query: string) =>
    (await gateway.api.get<{ items: LoggedEntry[]; next_cursor: null }>(`/api/v1/logs?${query}`, bootstrapKey)).body;
  await eventually(async () => {
    const { text: metrics } = await gateway.api.get('/metrics');
    expect(metrics).toMatch(/^reeve_audit_index_lag_entries 0$/m);
  });
  expect((await find('per_page=1000')).items).toEqual(entries.toReversed());
  expect((await find('org_id=acme&per_page=1000')).items).toEqual(
    entries.filter((entry) => entry.lineage.org_id === 'acme').toReversed(),
  );
  expect(await find(`op_id=${firstSpan}`)).toEqual({ items: [], next_cursor: null });
  expect((await find('op_id=many:99')).items).toHaveLength(1);
  expect((await find('event_type=AgentRegistered')).items).toEqual([]);
  expect((await find('from=2001-01-01T00:00:00Z&per_page=1000')).items).toHaveLength(entries.length);
});

test('the log is cut again when it has grown again, each time with a signature', async () => {
  const first = cutOf(gateway.audit()).seq;
  for (let i = 0; i < 60; i++) await gateway.check(agent);
  await eventually(() => expect(cutOf(gateway.audit()).seq).toBeGreaterThan(first));
  await settled(gateway);
  expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
});

test.each(['SIGTERM', 'SIGKILL'] as const)('operations whose entries are gone still survive %s', async (signal) => {
  await using first = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const worker = await first.register({ agentId: 'a' });
  await first.check(worker, old);
  for (let i = 0; i < 100; i++) await first.check(worker);
  await settled(first);
  expect(first.audit().some((entry) => entry.op_id === 'old:op')).toBe(false);
  await using second = await first.restart(signal, { env });
  expect(await second.check(worker, old)).toMatchObject({ decision: 1, opState: 'running' });
  expect(second.audit().at(-1)?.payload).toMatchObject({ replay: true });
  expect(await second.check(worker, { ...old, context: toolCall('other') })).toMatchObject({
    decision: 2,
    reason: 'operation id was used for another request',
  });
  expect(await second.complete(worker, 'old:op')).toMatchObject({ state: 'completing' });
  expect(verifyChain(second.folder)).toMatchObject({ accepted: true });
  await settled(second);
});

test('without retention nothing is ever cut', async () => {
  const { SVC_AUDIT_RETAIN_ENTRIES: _, ...ticks } = env;
  await using whole = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: ticks });
  const worker = await whole.register({ agentId: 'a' });
  for (let i = 0; i < 60; i++) await whole.check(worker);
  await sleep(1500); // Many sweeps.
  expect(whole.audit()[0]?.seq).toBe(1);
  expect(verifyChain(whole.folder).says).toMatch(/^\d+ entries, unbroken$/);
});

describe('the verifier', () => {
  let folder: string;
  beforeAll(async () => {
    await gateway.kill('SIGTERM');
    folder = mkdtempSync(join(tmpdir(), 'reeve-cut-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Verifies a changed copy of the log. */
  function changed(change: (db: DatabaseSync) => void): { accepted: boolean; says: string } {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(join(gateway.folder, 'reeve.db'), join(copy, 'reeve.db'));
    const db = new DatabaseSync(join(copy, 'reeve.db'));
    change(db);
    db.close();
    return verifyChain(copy);
  }

  function append(db: DatabaseSync, payload: object): void {
    const last = readAuditLog(gateway.folder).at(-1);
    if (last === undefined) throw new Error('the log is empty');
    const { hash: prev_hash, ...entry } = { ...last, event_type: 'AuditLogCut', payload, seq: last.seq + 1 };
    const text = canonical({ ...entry, prev_hash });
    const hash = createHash('sha256').update(text).digest('hex');
    db.prepare(
      `INSERT INTO audit (seq, at, event_type, org_id, team_id, agent_id, op_id, decision, claimed_org_id, hash, canonical)
       SELECT ?, at, 'AuditLogCut', org_id, team_id, agent_id, op_id, decision, claimed_org_id, ?, ? FROM audit WHERE seq = ?`,
    ).run(entry.seq, hash, text, last.seq);
  }

  test('accepts the log as it is', () => {
    expect(changed(() => undefined)).toMatchObject({ accepted: true });
  });

  test('accepts a log from which not all that was given up is gone yet, and only where that leads up to the cut', async () => {
    const [first, ...rest] = readAuditLog(gateway.folder);
    const through = rest[5];
    const store = new DatabaseSync(join(gateway.folder, 'reeve.db'), { readOnly: true });
    const row = store.prepare('SELECT * FROM signing_keys').get();
    store.close();
    const key = await importJWK(JSON.parse(String(row?.['private_jwk'])) as JWK, 'EdDSA');
    const cutAt = async (through_hash: string) => {
      const cut = { through_hash, through_seq: Number(through?.seq) };
      const signature = await new CompactSign(Buffer.from(JSON.stringify(cut)))
        .setProtectedHeader({ alg: 'EdDSA', kid: String(row?.['kid']) })
        .sign(key);
      return changed((db) => {
        append(db, { ...cut, removed: 7, signature });
        db.exec(`DELETE FROM audit WHERE seq <= ${Number(first?.seq) + 2}`);
      });
    };
    expect(await cutAt(String(through?.hash))).toMatchObject({ accepted: true });
    expect(await cutAt(String(through?.prev_hash))).toMatchObject({ accepted: false });
  });

  test('refuses a log that was cut further than anyone vouches for', () => {
    const first = readAuditLog(gateway.folder)[0]?.seq ?? 0;
    const further = changed((db) => db.exec(`DELETE FROM audit WHERE seq = ${first}`));
    expect(further).toEqual({
      accepted: false,
      says: `entry ${first + 1} is broken: the log starts with it, and nothing vouches for what was before`,
    });
  });

  test('refuses a log from which the vouching entry is gone, and one whose keys are', () => {
    const { seq } = cutOf(readAuditLog(gateway.folder));
    expect(changed((db) => db.exec(`DELETE FROM audit WHERE seq >= ${seq}`)).accepted).toBe(false);
    expect(changed((db) => db.exec('DELETE FROM signing_keys')).accepted).toBe(false);
  });

  test('refuses a cut that somebody else has signed, even where the chain itself is flawless', async () => {
    const first = readAuditLog(gateway.folder)[0];
    const cut = { through_hash: String(first?.hash), through_seq: Number(first?.seq) };
    const { privateKey } = await generateKeyPair('EdDSA');
    const { kid } = decodeProtectedHeader(String(cutOf(readAuditLog(gateway.folder)).payload['signature']));
    const forged = await new CompactSign(Buffer.from(JSON.stringify(cut)))
      .setProtectedHeader({ alg: 'EdDSA', kid: kid ?? '' })
      .sign(privateKey);
    const genuine = cutOf(readAuditLog(gateway.folder)).payload['signature'];
    for (const signature of [forged, genuine, '', 'a.b.c', null]) {
      const result = changed((db) => {
        append(db, { ...cut, removed: 1, signature });
        db.exec(`DELETE FROM audit WHERE seq = ${cut.through_seq}`);
      });
      expect(result).toMatchObject({ accepted: false, says: expect.stringContaining('nothing vouches') });
    }
  });

  test('still names an entry that was changed after the cut', () => {
    const { seq } = readAuditLog(gateway.folder).at(-3) ?? { seq: 0 };
    const result = changed((db) =>
      db.exec(`UPDATE audit SET canonical = replace(canonical, '"seq"', '"sequence"') WHERE seq = ${seq}`),
    );
    expect(result).toMatchObject({ accepted: false, says: expect.stringContaining(`entry ${seq} is broken`) });
  });
});

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
