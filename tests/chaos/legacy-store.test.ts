import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { allowAll, bootstrapKey } from '../harness/gateway.ts';
import { writeLegacy } from '../harness/legacy-store.ts';
import type { TestStore } from '../harness/stores.ts';
import { durableStores } from '../harness/stores.ts';

/** Far less than the stored data, but enough for a gateway. */
const smallHeap = { NODE_OPTIONS: '--max-old-space-size=112' };
const length = 1024 * 1024;
const page = 4 * 1024 * 1024;
const approvals = 8;
const limits = { SVC_RATE_LIMIT_API_PER_MIN: '0' };

interface Page {
  readonly items: readonly { readonly seq: number; readonly resource?: string }[];
  readonly next_cursor: string | null;
  readonly total: number;
}

describe.each(durableStores)('what an earlier version has stored, beyond all bounds, on $name', ({ name, open }) => {
  // On PostgreSQL an entry costs more time than space.
  const ops = name === 'SQLite' ? 40 : 30;
  let store: TestStore;
  let gateway: TestGateway;
  beforeAll(async () => {
    store = await open();
    const before = await store.start({ policies: { 'all.yaml': allowAll } });
    const agent = await before.register({ agentId: 'a' });
    await before.check(agent, { traceId: 'first', spanId: 's' });
    await before.kill('SIGTERM');
    await writeLegacy(before.folder, { agent, ops, approvals, length });
    gateway = await store.start({ env: { ...smallHeap, ...limits } });
  }, 300_000);
  afterAll(() => store[Symbol.asyncDispose]());

  async function pages(path: string): Promise<{ items: Page['items'][number][]; sizes: number[]; total: number }> {
    const items: Page['items'][number][] = [];
    const sizes: number[] = [];
    let total = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const headers = { authorization: `Bearer ${bootstrapKey}` };
      const response = await fetch(`${gateway.http}${path}?per_page=1000${query}`, { headers });
      expect(response.status).toBe(200);
      const text = await response.text();
      const read = JSON.parse(text) as Page;
      expect(read.items.length).toBeGreaterThan(0);
      items.push(...read.items);
      sizes.push(read.items.length > 1 ? text.length : 0);
      total = read.total;
      cursor = read.next_cursor;
    }
    return { items, sizes, total };
  }

  test('does not keep a gateway with little memory from starting, with the operations that there were', async () => {
    const { items, sizes, total } = await pages('/api/v1/ops');
    expect(total).toBe(ops + 1);
    expect(items).toHaveLength(ops + 1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(page);
    for (const { resource = '' } of items) expect(resource.length).toBeLessThanOrEqual(8192);
  });

  test('is listed in pages of at most 4 MiB, or of one entry, and none is missing', async () => {
    const { items, sizes } = await pages('/api/v1/logs');
    const seqs = items.map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, at) => seqs.length - at));
    expect(seqs.length).toBeGreaterThan(ops);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(page);
  }, 300_000);

  test('is exported whole, and its chain holds', async () => {
    const headers = { authorization: `Bearer ${bootstrapKey}` };
    for (const format of ['jsonl', 'csv']) {
      const response = await fetch(`${gateway.http}/api/v1/logs/export?format=${format}`, { headers });
      expect(response.status).toBe(200);
      if (response.body === null) throw new Error('there is no body');
      let lines = 0;
      const digest = createHash('sha256');
      for await (const line of createInterface({ input: Readable.fromWeb(response.body as never) })) {
        lines++;
        digest.update(line);
      }
      expect(lines).toBeGreaterThan(ops);
    }
    using home = new TestHome();
    const env = { REEVE_API_KEY: bootstrapKey, REEVE_API_URL: gateway.http, ...smallHeap };
    expect(await home.run(['audit', 'verify'], { env })).toMatchObject({ code: 0, stderr: '' });
  }, 300_000);

  test('shows its approvals, which can be decided', async () => {
    const { items, total } = await pages('/api/v1/approvals');
    expect([items.length, total]).toEqual([approvals, approvals]);
    for (const { resource = '' } of items) expect(resource.length).toBeLessThanOrEqual(8192);
    const [first] = items as unknown as { id: string }[];
    const answer = await gateway.api.post(`/api/v1/approvals/${first?.id}/approve`, bootstrapKey, {});
    expect(answer).toMatchObject({ status: 200, body: { state: 'approved' } });
  });

  test('is explained, searched and tried with a candidate', async () => {
    const explained = await gateway.api.get(`/api/v1/decisions/${encodeURIComponent('old:9')}/explain`, bootstrapKey);
    expect(explained).toMatchObject({ status: 200 });
    const found = await gateway.api.get<Page>('/api/v1/logs?q=tool-11-&per_page=50', bootstrapKey);
    expect(found.body.items).toHaveLength(1);
    const lines = await fetch(`${gateway.http}/api/v1/policies/backtest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bootstrapKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ candidate: 'name: c\ndefault: deny\n' }),
    });
    expect(await lines.text()).toContain('"type":"result"');
  }, 300_000);

  test('is read again at the next start', async () => {
    expect(await gateway.kill('SIGTERM')).toBe(0);
    gateway = await store.start({ env: { ...smallHeap, ...limits } });
    expect(await gateway.api.get('/readyz', '')).toMatchObject({ status: 200 });
  }, 300_000);
});
