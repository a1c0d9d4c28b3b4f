import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '@reeve/contract/http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LoggedEntry } from '../harness/audit-log.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Registered } from '../harness/gateway.ts';
import { bootstrapKey, checkRequest, TestGateway, toolCall } from '../harness/gateway.ts';

const policy = 'name: logs\ndefault: allow\nrules:\n  - {name: no, effect: deny, tools: [forbidden]}\n';
type LogPage = { items: LoggedEntry[]; next_cursor: string | null };
type Query = Readonly<Record<string, string>>;

let gateway: TestGateway;
let ada: Registered;
let bob: Registered;
let eve: Registered;
let lone: Registered;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'logs.yaml': policy } });
  ({ ada, bob, eve, lone } = await populate(gateway));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Something for every filter to find, and something for each to omit. */
async function populate(into: TestGateway) {
  const agents = {
    ada: await into.register({ orgId: 'acme', agentId: 'ada' }),
    bob: await into.register({ orgId: 'acme', teamId: 'other', agentId: 'bob' }),
    eve: await into.register({ orgId: 'globex', agentId: 'eve' }),
    lone: await into.register({ orgId: '', teamId: '', agentId: 'lone' }),
  };
  const { ada, bob, eve, lone } = agents;
  for (let i = 0; i < 6; i++) {
    for (const agent of [ada, bob, eve, lone]) {
      await into.check(agent, { traceId: 'shared', spanId: `s${i}`, context: toolCall('search', { n: i }) });
      await into.check(agent, { context: toolCall('forbidden') });
    }
  }
  await into.complete(ada, 'shared:s1');
  await into.check(ada, {
    context: toolCall('search', { text: 'Grüße aus KÖLN: 50%_"quoted"\\\n', note: 'naïve 🦊' }),
  });
  await into.check({ id: { orgId: 'initech', teamId: 'core', agentId: 'nobody' }, token: 'x'.repeat(40) });
  await into.check({ id: eve.id, token: ada.token });
  await into.check({ id: { ...eve.id, agentId: 'ghost' }, token: ada.token });
  await makeKey(into, { org_id: 'acme', label: 'of acme' });
  await makeKey(into, { org_id: 'acme', team_id: 'core', label: 'of a team' });
  return agents;
}

function search(query: Query): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
}

async function page(query: Query, bearer = bootstrapKey, from = gateway): Promise<LogPage> {
  const { status, body } = await from.api.get<LogPage>(`/api/v1/logs${search(query)}`, bearer);
  expect(status, JSON.stringify(query)).toBe(200);
  return body;
}

/** All matching entries, newest first, page by page. */
async function all(query: Query = {}, bearer = bootstrapKey, from = gateway): Promise<LoggedEntry[]> {
  const found: LoggedEntry[] = [];
  let cursor: Query = {};
  for (;;) {
    const { items, next_cursor } = await page({ per_page: '1000', ...query, ...cursor }, bearer, from);
    found.push(...items);
    if (next_cursor === null) return found;
    cursor = { cursor: next_cursor };
  }
}

async function exported(query: Query = {}, bearer = bootstrapKey, from = gateway): Promise<LoggedEntry[]> {
  const { status, text, headers } = await from.api.get(`/api/v1/logs/export${search(query)}`, bearer);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  if (text === '') return [];
  expect(text.endsWith('\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LoggedEntry);
}

/** The rules of contract §8, entry by entry. */
function fits(entry: LoggedEntry, query: Query): boolean {
  const { lineage } = entry;
  const text = JSON.stringify({ ...entry, hash: undefined });
  const equal = (name: string, value: string | null) => query[name] === undefined || query[name] === value;
  return (
    equal('org_id', lineage.org_id) &&
    equal('team_id', lineage.team_id) &&
    equal('agent_id', lineage.agent_id) &&
    equal('event_type', entry.event_type) &&
    equal('decision', entry.decision) &&
    equal('op_id', entry.op_id) &&
    (query['from'] === undefined || Date.parse(entry.at) >= Date.parse(query['from'])) &&
    (query['to'] === undefined || Date.parse(entry.at) < Date.parse(query['to'])) &&
    (query['q'] === undefined || text.toLowerCase().includes(JSON.stringify(query['q']).slice(1, -1).toLowerCase()))
  );
}

function someQueries(entries: readonly LoggedEntry[]): Query[] {
  const at = (share: number) => entries[Math.floor(entries.length * share)]?.at ?? '';
  const single: Query[] = [
    ...['acme', 'globex', 'initech', '', 'null', 'ACME'].map((org_id) => ({ org_id })),
    ...['core', 'other', '', 'nobody'].map((team_id) => ({ team_id })),
    ...['ada', 'bob', 'nobody', 'ghost', ''].map((agent_id) => ({ agent_id })),
    ...['ActionAllowed', 'ActionDenied', 'AgentRegistered', 'OpStateChanged', 'ApiKeyCreated', 'Nothing'].map(
      (event_type) => ({ event_type }),
    ),
    { event_type: 'A2AImpersonationAttempted' },
    ...['allow', 'deny', 'pending'].map((decision) => ({ decision })),
    ...['shared:s0', 'shared:s1', 'no:such'].map((op_id) => ({ op_id })),
    ...['köln', 'KÖLN', 'kÖln', '50%_', '"quoted"\\', '🦊', 'naïve', 'FORBIDDEN', 'nowhere to be found'].map((q) => ({
      q,
    })),
    { from: at(0.3) },
    { to: at(0.3) },
    { from: at(0.3), to: at(0.7) },
    { from: at(0.7), to: at(0.3) },
    { from: at(0), to: at(0) },
    { from: '2001-01-01T00:00:00Z', to: '2101-01-01T00:00:00+14:00' },
  ];
  const combined: Query[] = [
    { org_id: 'acme', team_id: 'core' },
    { org_id: 'acme', agent_id: 'eve' },
    { org_id: 'acme', event_type: 'ActionDenied', decision: 'deny' },
    { org_id: 'acme', event_type: 'A2AImpersonationAttempted' },
    { org_id: 'globex', event_type: 'A2AImpersonationAttempted' },
    { org_id: 'globex', op_id: 'shared:s1' },
    { agent_id: 'ada', decision: 'allow', from: at(0.2) },
    { team_id: 'core', event_type: 'AgentRegistered', q: 'eve' },
    { org_id: 'acme', q: 'köln', decision: 'allow' },
  ];
  return [...single, ...combined];
}

/** Tests every filter, alone and with others, in the list and in the export, against a scan of all entries. */
async function expectEveryFilter(from: TestGateway): Promise<void> {
  const entries = await all({}, bootstrapKey, from);
  expect(entries.length).toBeGreaterThan(40);
  expect(await exported({}, bootstrapKey, from)).toEqual(entries.toReversed());
  for (const query of someQueries(entries)) {
    const expected = entries.filter((entry) => fits(entry, query));
    const said = JSON.stringify(query);
    expect(await all(query, bootstrapKey, from), said).toEqual(expected);
    expect(await all({ ...query, per_page: '20' }, bootstrapKey, from), `${said}, by twenties`).toEqual(expected);
    expect(await exported(query, bootstrapKey, from), `${said}, exported`).toEqual(expected.toReversed());
  }
}

async function lag(from: TestGateway): Promise<number> {
  const { text } = await from.api.get('/metrics');
  return Number(/^reeve_audit_index_lag_entries (\d+)$/m.exec(text)?.[1]);
}

function untilIndexed(from: TestGateway): Promise<void> {
  return eventually(async () => expect(await lag(from)).toBe(0));
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

function hashOf(entry: LoggedEntry): string {
  const { hash: _, ...hashed } = entry;
  return createHash('sha256').update(canonical(hashed)).digest('hex');
}

describe('filters', () => {
  test('each finds what a scan of the whole log would, before and after the entries are indexed', async () => {
    expect((await all()).toReversed()).toEqual(gateway.audit());
    await expectEveryFilter(gateway);
    await untilIndexed(gateway);
    await expectEveryFilter(gateway);
  });

  test('answer alike where nothing is durable', async () => {
    await using memory = await TestGateway.start({
      policies: { 'logs.yaml': policy },
      args: ['--database', 'memory:'],
    });
    await populate(memory);
    await expectEveryFilter(memory);
  });

  test('answer alike after a restart, and without the index, and with one that is of no use', async () => {
    const [index, write, shared] = ['', '-wal', '-shm'].map((end) => `audit-index.db${end}`);
    await using first = await TestGateway.start({ policies: { 'logs.yaml': policy } });
    await populate(first);
    await untilIndexed(first);
    await using second = await first.restart('SIGKILL');
    await expectEveryFilter(second);
    await second.kill('SIGTERM');
    const file = join(first.folder, index ?? '');
    expect(existsSync(file)).toBe(true);

    for (const name of [index, write, shared]) rmSync(join(first.folder, name ?? ''), { force: true });
    await using third = await TestGateway.start({ folder: first.folder });
    await expectEveryFilter(third);
    await untilIndexed(third);
    await expectEveryFilter(third);
    await third.kill('SIGTERM');

    // The index of another log, with other entries under the same sequences.
    await untilIndexed(gateway);
    copyFileSync(join(gateway.folder, index ?? ''), file);
    await using fourth = await TestGateway.start({ folder: first.folder });
    await untilIndexed(fourth);
    await expectEveryFilter(fourth);
    await fourth.kill('SIGTERM');

    const whole = readFileSync(file);
    const insideOut = Buffer.concat([whole.subarray(0, 4096), whole.subarray(4096).map((byte) => byte ^ 0x55)]);
    for (const damaged of [Buffer.from('this was an index once'.repeat(1000)), insideOut]) {
      writeFileSync(file, damaged);
      const repaired = await TestGateway.start({ folder: first.folder });
      try {
        await expectEveryFilter(repaired);
        await untilIndexed(repaired);
        await expectEveryFilter(repaired);
      } finally {
        expect(await repaired.kill('SIGTERM')).toBe(0);
      }
    }
  });

  test('an entry without an org matches no org that is asked for', async () => {
    const without = (await all()).filter((entry) => entry.lineage.org_id === null);
    expect(without.map((entry) => entry.lineage.agent_id)).toContain('lone');
    expect(without.map((entry) => entry.lineage.agent_id)).toContain('nobody');
    for (const org_id of ['', 'null', 'undefined', '-', 'initech']) {
      expect(await page({ org_id })).toEqual({ items: [], next_cursor: null });
    }
  });

  test('times are RFC 3339 in any zone: from is included, to is not', async () => {
    const entries = await all();
    const { at = '' } = entries[20] ?? {};
    const local = new Date(Date.parse(at) + 5.5 * 3_600_000).toISOString().replace('Z', '+05:30');
    for (const from of [at, local, at.replace('Z', '+00:00')]) {
      expect((await all({ from })).at(-1)?.at).toBe(at);
      expect((await all({ to: from }))[0]?.at.localeCompare(at)).toBe(-1);
      expect((await all({ from })).length + (await all({ to: from })).length).toBe(entries.length);
    }
  });

  test.each<[string, Query]>([
    ['from', { from: 'yesterday' }],
    ['from', { from: '2026-01-01' }],
    ['from', { from: '2026-01-01T00:00:00' }],
    ['from', { from: '2026-13-01T00:00:00Z' }],
    ['from', { from: '1767225600000' }],
    ['to', { to: '' }],
    ['decision', { decision: 'maybe' }],
    ['decision', { decision: 'ALLOW' }],
    ['q', { q: '' }],
    ['q', { q: 'x'.repeat(201) }],
    ['org_id', { org_id: 'x'.repeat(129) }],
    ['event_type', { event_type: 'x'.repeat(65) }],
  ])('a bad %s is a 422 that points at it, in the list and in the export', async (name, query) => {
    for (const path of ['/api/v1/logs', '/api/v1/logs/export']) {
      const answer = await gateway.api.get<Problem>(`${path}${search(query)}`, bootstrapKey);
      expect(answer.status).toBe(422);
      expect(answer.body.errors).toMatchObject([{ pointer: `/query/${name}` }]);
    }
  });

  test('whatever they hold is taken as it is', async () => {
    const before = gateway.audit().length;
    for (const odd of [`' OR '1'='1`, `"; DROP TABLE audit; --`, '%', '_', '\u0000', '${x}', '\ud83e\udd8a']) {
      for (const name of ['org_id', 'agent_id', 'op_id', 'event_type', 'team_id']) {
        expect((await page({ [name]: odd })).items).toEqual([]);
      }
    }
    expect(gateway.audit()).toHaveLength(before);
  });
});

describe('pages', () => {
  test('are newest first, 50 at a time unless said otherwise', async () => {
    const { items, next_cursor } = await page({});
    expect(items).toHaveLength(50);
    expect(next_cursor).not.toBeNull();
    const seqs = items.map((entry) => entry.seq);
    expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
    expect(seqs[0]).toBe(gateway.audit().at(-1)?.seq);
  });

  test('lose and repeat nothing while others write', async () => {
    const newest = (await page({ per_page: '1' })).items[0]?.seq ?? 0;
    const expected = gateway.audit().filter((entry) => entry.seq <= newest && entry.lineage.org_id === 'acme');
    const others = { writing: true };
    const writer = async (agent: Registered) => {
      while (others.writing) await gateway.check(agent);
    };
    const writers = [writer(ada), writer(bob), writer(eve)];
    const seen: LoggedEntry[] = [];
    let cursor: Query = {};
    for (;;) {
      const { items, next_cursor } = await page({ org_id: 'acme', per_page: '3', ...cursor });
      seen.push(...items);
      if (next_cursor === null) break;
      cursor = { cursor: next_cursor };
    }
    others.writing = false;
    await Promise.all(writers);
    expect(seen.map((entry) => entry.seq)).toEqual(seen.map((entry) => entry.seq).toSorted((a, b) => b - a));
    expect(new Set(seen.map((entry) => entry.seq)).size).toBe(seen.length);
    expect(seen.filter((entry) => entry.seq <= newest)).toEqual(expected.toReversed());
  });

  test('show an entry as soon as what it is about is answered', async () => {
    for (let i = 0; i < 25; i++) {
      const { opId } = await gateway.check(eve);
      const narrow: Query[] = [{}, { org_id: 'globex' }, { agent_id: 'eve' }, { op_id: opId }, { q: opId }];
      for (const query of narrow) expect((await page({ ...query, per_page: '1' })).items[0]?.op_id).toBe(opId);
    }
  });
});

describe('tenants', () => {
  test('an org’s key sees that org’s entries and no others, a team’s key that team’s', async () => {
    const org = await makeKey(gateway, { org_id: 'acme' });
    const team = await makeKey(gateway, { org_id: 'acme', team_id: 'other' });
    const stranger = await makeKey(gateway, { org_id: 'nobody' });
    const entries = await all();
    const ofAcme = entries.filter((entry) => entry.lineage.org_id === 'acme');
    expect(await all({}, org.key)).toEqual(ofAcme);
    expect(await exported({}, org.key)).toEqual(ofAcme.toReversed());
    const ofTeam = ofAcme.filter((entry) => entry.lineage.team_id === 'other');
    expect(ofTeam.length).toBeGreaterThan(0);
    expect(await all({}, team.key)).toEqual(ofTeam);
    expect(await exported({}, team.key)).toEqual(ofTeam.toReversed());
    expect(await all({}, stranger.key)).toEqual(entries.filter((entry) => entry.lineage.org_id === 'nobody'));
  });

  test('org_id and team_id only narrow: asking for another tenant finds nothing', async () => {
    const org = await makeKey(gateway, { org_id: 'acme' });
    const team = await makeKey(gateway, { org_id: 'acme', team_id: 'other' });
    expect((await all({ org_id: 'acme' }, org.key)).length).toBeGreaterThan(0);
    expect((await all({ team_id: 'other' }, org.key)).length).toBeGreaterThan(0);
    for (const [bearer, query] of [
      [org.key, { org_id: 'globex' }],
      [org.key, { org_id: '' }],
      [org.key, { agent_id: 'eve' }],
      [team.key, { team_id: 'core' }],
      [team.key, { org_id: 'globex', team_id: 'other' }],
      [team.key, { agent_id: 'ada' }],
    ] as const) {
      expect(await page(query, bearer)).toEqual({ items: [], next_cursor: null });
      expect(await exported(query, bearer)).toEqual([]);
    }
  });
});

describe('an impersonation', () => {
  const byType = { event_type: 'A2AImpersonationAttempted' };

  test('is found by event type by an admin of either org, and by nobody else of the org that was claimed', async () => {
    const grant = async (org_id: string, scope: 'read' | 'write' | 'admin', team_id?: string) =>
      (await makeKey(gateway, { org_id, scopes: [scope], ...(team_id === undefined ? {} : { team_id }) })).key;
    const attempts = gateway.audit().filter((entry) => entry.event_type === byType.event_type);
    expect(attempts).toHaveLength(2);
    expect(attempts[0]).toMatchObject({ lineage: { org_id: 'acme' }, payload: { claimed_org_id: 'globex' } });
    const both = attempts.toReversed();
    const none: LoggedEntry[] = [];
    for (const [bearer, query, expected] of [
      [bootstrapKey, byType, both],
      [bootstrapKey, { ...byType, org_id: 'acme' }, both],
      [bootstrapKey, { ...byType, org_id: 'globex' }, none],
      [await grant('acme', 'admin'), byType, both],
      [await grant('acme', 'read'), byType, both],
      [await grant('globex', 'admin'), byType, both],
      [await grant('globex', 'admin'), { ...byType, q: 'ghost' }, both.slice(0, 1)],
      [await grant('globex', 'admin'), { ...byType, org_id: 'globex' }, none],
      [await grant('globex', 'admin'), { ...byType, org_id: 'acme' }, none],
      [await grant('globex', 'write'), byType, none],
      [await grant('globex', 'read'), byType, none],
      [await grant('globex', 'admin', 'core'), byType, none],
      [await grant('initech', 'admin'), byType, none],
    ] as const) {
      expect(await all(query, bearer)).toEqual(expected);
      expect(await exported(query, bearer)).toEqual(expected.toReversed());
    }
    const others = await all({}, await grant('globex', 'admin'));
    expect(others.filter((entry) => entry.lineage.org_id !== 'globex')).toEqual([]);
  });
});

describe('the export', () => {
  test('as JSON lines is the whole chain: every hash fits, and every entry links to the one before', async () => {
    const batch = Array.from({ length: 800 }, () => checkRequest(ada, { context: toolCall('search') }));
    for (let i = 0; i < 3; i++) {
      await gateway.batch(batch);
    }
    const entries = await exported();
    expect(entries).toEqual(gateway.audit());
    let [seq, previous] = [0, '0'.repeat(64)];
    for (const entry of entries) {
      expect(entry.seq).toBe(++seq);
      expect(entry.prev_hash).toBe(previous);
      expect(hashOf(entry)).toBe(entry.hash);
      previous = entry.hash;
    }
  });

  test('narrowed by a filter it is no chain, but each entry’s own hash still fits', async () => {
    const entries = await exported({ org_id: 'globex' });
    expect(entries.length).toBeGreaterThan(5);
    for (const entry of entries) expect(hashOf(entry)).toBe(entry.hash);
    expect(entries.some((entry, i) => i > 0 && entry.prev_hash !== entries[i - 1]?.hash)).toBe(true);
  });

  test('comes as a file to keep, and is empty where there is nothing', async () => {
    const { headers, text, status } = await gateway.api.get('/api/v1/logs/export?agent_id=nobody-at-all', bootstrapKey);
    expect(status).toBe(200);
    expect(text).toBe('');
    expect(headers.get('content-disposition')).toBe('attachment; filename="reeve-audit.jsonl"');
    const csv = await gateway.api.get('/api/v1/logs/export?agent_id=nobody-at-all&format=csv', bootstrapKey);
    expect(csv.text.trim().split('\n')).toHaveLength(1);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="reeve-audit.csv"');
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const other = await gateway.api.get<Problem>('/api/v1/logs/export?format=xml', bootstrapKey);
    expect(other).toMatchObject({ status: 422, body: { errors: [{ pointer: '/query/format' }] } });
  });

  test('as CSV has the same entries, with cells that need it in quotes and none that a spreadsheet would run', async () => {
    const reasons = [
      'plain',
      'a, comma',
      'a "quote"',
      'two\r\nlines',
      '=HYPERLINK("http://x","y")',
      '+1',
      '-1',
      '@SUM(A1)',
      '\tTab',
    ];
    for (const reason of reasons) {
      for (const action of ['suspend', 'resume']) {
        await gateway.api.post(`/api/v1/agents/-/-/lone/${action}`, bootstrapKey, { reason });
      }
    }
    await gateway.check(lone, { traceId: '-dash', spanId: 'x' });
    const query = { agent_id: 'lone' };
    const { text } = await gateway.api.get(`/api/v1/logs/export${search({ ...query, format: 'csv' })}`, bootstrapKey);
    const [head = [], ...rows] = parseCsv(text);
    expect(head).toEqual(expect.arrayContaining(['seq', 'at', 'event_type', 'org_id', 'reason', 'payload', 'hash']));
    const entries = await exported(query);
    expect(rows).toHaveLength(entries.length);
    for (const [index, entry] of entries.entries()) {
      const row = Object.fromEntries(head.map((name, column) => [name, rows[index]?.[column] ?? '']));
      const bare = (value: string | null) =>
        value !== null && /^[=+\-@\t\r]/.test(value) ? `'${value}` : (value ?? '');
      expect(row).toMatchObject({
        seq: String(entry.seq),
        at: entry.at,
        event_type: entry.event_type,
        org_id: '',
        team_id: '',
        agent_id: 'lone',
        actor_kind: entry.actor.kind,
        actor_id: entry.actor.id,
        op_id: bare(entry.op_id),
        decision: entry.decision ?? '',
        reason: bare(entry.reason),
        prev_hash: entry.prev_hash,
        hash: entry.hash,
      });
      expect(JSON.parse(row['payload'] ?? '')).toEqual(entry.payload);
    }
    expect(rows.flat().filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
    const guarded = rows.map((row) => row[head.indexOf('reason')]);
    for (const reason of reasons) expect(guarded.map((cell) => cell?.replace(/^'/, ''))).toContain(reason);
  });
});

/** RFC 4180. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text.charAt(at + 1) === '"') cell += text.charAt(++at);
      else quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === ',' || char === '\n') {
      row.push(cell.replace(/\r$/, ''));
      cell = '';
      if (char === '\n') {
        rows.push(row);
        row = [];
      }
    } else cell += char;
  }
  return rows;
}
