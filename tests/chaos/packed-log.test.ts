import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { entryJson } from '@reeve/core';
import { sampleDraft, sealAll } from '@reeve/core/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SqliteStore } from '../../packages/gateway/src/adapters/sql/sqlite-store.ts';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/** So many of the newest entries stay rows, and a block has so many. */
const keptRows = 10_000;
const blockEntries = 128;
const policy = 'name: chaos\ndefault: deny\n';

/** Adds entries to the log of a stopped gateway, as an earlier release would have left them. */
async function lengthen(folder: string, count: number): Promise<void> {
  const store = new SqliteStore({ path: join(folder, 'reeve.db'), sync: 'process' });
  let { head } = await store.load();
  for (let left = count; left > 0; left -= 1000) {
    const drafts = Array.from({ length: 1000 }, (_, n) =>
      sampleDraft({
        at: 1_700_000_000_000 + n,
        opId: `t:${left - n}`,
        decision: 'allow',
        reason: 'of an earlier release',
      }),
    );
    const entries = sealAll(drafts, head);
    head = entries.at(-1) ?? head;
    store.commitNow({ entries, changes: [] });
  }
  await store.close();
}

function blocksIn(folder: string): { readonly blocks: number; readonly packed: number } {
  using db = new DatabaseSync(join(folder, 'reeve.db'), { readOnly: true });
  const sql = 'SELECT count(*) AS blocks, COALESCE(max(last_seq), 0) AS packed FROM audit_blocks';
  return db.prepare(sql).get() as unknown as { blocks: number; packed: number };
}

function change(folder: string, sql: string): void {
  using db = new DatabaseSync(join(folder, 'reeve.db'));
  db.exec(sql);
}

async function exported(gateway: TestGateway): Promise<string> {
  const headers = { authorization: `Bearer ${bootstrapKey}` };
  return (await fetch(`${gateway.http}/api/v1/logs/export?format=jsonl`, { headers })).text();
}

test('kills while entries are decided and packed lose none and double none', async () => {
  let gateway = await TestGateway.start({ policies: { 'chaos.yaml': policy } });
  try {
    await gateway.kill('SIGTERM');
    await lengthen(gateway.folder, keptRows);
    gateway = await TestGateway.start({ folder: gateway.folder });
    const agent = await gateway.register({ agentId: 'a' });
    const answered = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const { blocks: before } = blocksIn(gateway.folder);
      let next = 0;
      const load = async () => {
        for (;;) {
          const requests = Array.from({ length: 100 }, () =>
            checkRequest(agent, { traceId: `round-${round}`, spanId: `${next++}`, context: toolCall('search', {}) }),
          );
          for (const { opId } of await gateway.batch(requests)) answered.add(opId);
        }
      };
      const loading = load().catch(() => undefined);
      await eventually(() => expect(blocksIn(gateway.folder).blocks).toBeGreaterThan(before + 2 + round));
      await gateway.kill('SIGKILL');
      await loading;
      expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
      gateway = await TestGateway.start({ folder: gateway.folder });
    }
    const entries = gateway.audit();
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, at) => at + 1));
    const decided = entries.filter(({ event_type: type }) => type === 'ActionDenied').map(({ op_id: id }) => id);
    expect(new Set(decided).size).toBe(decided.length);
    expect([...answered].filter((opId) => !decided.includes(opId))).toEqual([]);
    expect(blocksIn(gateway.folder).blocks).toBeGreaterThan(0);
  } finally {
    await gateway[Symbol.asyncDispose]();
  }
}, 180_000);

describe('the log of an earlier release', () => {
  let place: string;
  let home: TestHome;
  let gateway: TestGateway;
  const reeve = (...args: string[]) =>
    home.run(args, { env: { REEVE_API_KEY: bootstrapKey, REEVE_API_URL: gateway.http } });
  const get = (path: string) =>
    gateway.api.get<Readonly<Record<string, unknown>>>(`/api/v1/logs?${path}`, bootstrapKey);

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'reeve-packed-'));
    home = new TestHome();
    gateway = await TestGateway.start({ policies: { 'chaos.yaml': policy } });
    await gateway.kill('SIGTERM');
    await lengthen(gateway.folder, keptRows + 3000);
  }, 60_000);
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    home[Symbol.dispose]();
    rmSync(place, { recursive: true, force: true });
  });

  test('is packed little by little, and read to the letter as it was all the while', async () => {
    using db = new DatabaseSync(join(gateway.folder, 'reeve.db'), { readOnly: true });
    const rows = db.prepare('SELECT seq, hash, canonical FROM audit ORDER BY seq').all();
    const before = rows.map((row) => `${entryJson(row as never)}\n`).join('');
    gateway = await TestGateway.start({ folder: gateway.folder });
    expect((await exported(gateway)).startsWith(before)).toBe(true);
    await eventually(() =>
      expect(blocksIn(gateway.folder).blocks).toBeGreaterThanOrEqual(Math.floor(3000 / blockEntries)),
    );
    expect((await exported(gateway)).startsWith(before)).toBe(true);
    expect(gateway.audit().length).toBeGreaterThan(rows.length);
    expect(await reeve('audit', 'verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('unbroken') });
    expect((await get('op_id=t:12990')).body).toMatchObject({ items: [{ op_id: 't:12990' }] });
    expect((await get('seq=100')).body).toMatchObject({ items: [{ seq: 100 }] });
  });

  test('is in a backup with all its entries', async () => {
    expect(await reeve('backup', 'create', join(place, 'copy'))).toMatchObject({ code: 0 });
    const { entries, head } = await home.json<{ entries: number; head: { seq: number } }>([
      ...['backup', 'verify', join(place, 'copy')],
    ]);
    expect(entries).toBe(head.seq);
    const data = join(place, 'data');
    expect(await reeve('backup', 'restore', join(place, 'copy'), '--data', data)).toMatchObject({ code: 0 });
    expect(blocksIn(data).blocks).toBeGreaterThan(0);
    expect(verifyChain(data)).toMatchObject({ accepted: true });
    await using restored = await TestGateway.start({ folder: data });
    expect((await exported(restored)).startsWith((await exported(gateway)).slice(0, 1_000_000))).toBe(true);
  });

  test('with a damaged block is read but for that, and verification names its first entry', async () => {
    await gateway.kill('SIGTERM');
    const first = blockEntries + 1;
    change(gateway.folder, `CREATE TABLE kept AS SELECT * FROM audit_blocks WHERE first_seq = ${first}`);
    change(gateway.folder, `UPDATE audit_blocks SET entries = zeroblob(99) WHERE first_seq = ${first}`);
    gateway = await TestGateway.start({ folder: gateway.folder });
    const said = await reeve('audit', 'verify');
    expect(said).toMatchObject({ code: 1, stdout: expect.stringContaining(`Entry ${first} is broken`) });
    const why = `the block of entries ${first} to ${2 * blockEntries} is damaged on the disk`;
    expect((await get(`seq=${first}`)).body).toMatchObject({ items: [{ seq: first, hash: '', reason: why }] });
    expect((await get('per_page=50')).status).toBe(200);
    const refused = await get(`decision=allow&op_id=t:${keptRows + 3000 - 150}`);
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringContaining(why) } });
    await gateway.kill('SIGTERM');
    change(gateway.folder, 'INSERT OR REPLACE INTO audit_blocks SELECT * FROM kept; DROP TABLE kept;');
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  });

  test('is cut inside of a block, and still verifies', async () => {
    const env = {
      SVC_AUDIT_RETAIN_ENTRIES: String(keptRows + 500),
      SVC_OPS_SWEEP_TICK_SECS: '0.1',
      SVC_OPS_TTL_SECS: '0.2',
    };
    gateway = await TestGateway.start({ folder: gateway.folder, env });
    await eventually(() => {
      const [first] = gateway.audit();
      expect(first?.seq).toBeGreaterThan(2000);
      expect((Number(first?.seq) - 1) % blockEntries).not.toBe(0);
    });
    expect(await reeve('audit', 'verify')).toMatchObject({ code: 0, stdout: expect.stringContaining('signed cut') });
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
    expect(blocksIn(gateway.folder).blocks).toBeLessThan(10);
  });
});
