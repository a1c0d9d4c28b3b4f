import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import { FakeServer } from '../harness/fake-server.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';

let gateway: TestGateway;
let home: TestHome;
let env: Record<string, string>;
let whole: string;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
  const bot = await gateway.register({ agentId: 'bot' });
  const other = await gateway.register({ orgId: 'other', agentId: 'bot' });
  for (let at = 0; at < 4; at++) {
    await gateway.check(bot);
    await gateway.check(other, { summary: 'with "quotes", ünïcödé \u2028 and \u0007' });
  }
  home = new TestHome();
  env = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  whole = join(home.path, 'whole.jsonl');
  await run('audit', 'export', '--out', whole);
});
afterAll(async () => {
  home[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
});

const run = (...args: string[]) => home.run(args, { env });
const lines = () => readFileSync(whole, 'utf8').trimEnd().split('\n');
function write(name: string, content: readonly string[]): string {
  const path = join(home.path, name);
  writeFileSync(path, `${content.join('\n')}\n`);
  return path;
}

describe('audit export', () => {
  test('writes the entries as the gateway has them, oldest first', async () => {
    const answer = await gateway.api.get('/api/v1/logs/export', bootstrapKey);
    const { code, stdout, stderr } = await run('audit', 'export');
    expect([code, stderr, stdout]).toEqual([0, '', answer.text]);
    const { stdout: csv } = await run('audit', 'export', '--format', 'csv', '--org', 'acme');
    expect(csv).toBe((await gateway.api.get('/api/v1/logs/export?format=csv&org_id=acme', bootstrapKey)).text);
  });

  test('writes into a file that its owner alone can read, and says how much', async () => {
    const file = join(home.path, 'part.csv');
    const { code, stdout, stderr } = await run('audit', 'export', '--format', 'csv', '--out', file);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^Wrote \d+ lines to .*part\.csv\.$/m);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    const data = await home.json(['audit', 'export', '--out', file], { env });
    expect(data).toEqual({ file, format: 'jsonl', lines: lines().length, bytes: statSync(whole).size });
  });

  test('that breaks off leaves no file behind, and what was there before stays', async () => {
    await using server = await FakeServer.start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.write('{"seq":1}\n');
      setTimeout(() => response.destroy(), 50);
      return undefined;
    });
    const file = write('kept.jsonl', ['as it was']);
    const { code, stderr } = await run('audit', 'export', '--out', file, '--api-url', server.url);
    expect([code, stderr]).toEqual([1, expect.stringContaining('broke the connection off')]);
    expect(readFileSync(file, 'utf8')).toBe('as it was\n');
    expect(existsSync(`${file}.part`)).toBe(false);
  });

  test('into a place that cannot be written is an error in one line', async () => {
    const { code, stderr } = await run('audit', 'export', '--out', join(home.path, 'no', 'such', 'folder.jsonl'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: cannot write .*folder\.jsonl: .*\n$/)]);
  });
});

describe('audit verify', () => {
  test('says that the chain is unbroken, online and from an export', async () => {
    const online = await run('audit', 'verify');
    expect([online.code, online.stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+ entries, unbroken; the newest is \d+ with hash [0-9a-f]{64}\n$/),
    ]);
    for (const more of [[], ['--complete']]) {
      const { code, stdout } = await run('audit', 'verify', whole, ...more);
      expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${lines().length} entries, unbroken`))]);
    }
    const { code, stdout } = await home.run(['audit', 'verify', '-'], { env, input: readFileSync(whole, 'utf8') });
    expect([code, stdout]).toEqual([0, expect.stringContaining('unbroken')]);
    const last = JSON.parse(lines().at(-1) ?? '') as { seq: number; hash: string };
    expect(await home.json(['audit', 'verify', whole])).toEqual({
      result: 'unbroken',
      entries: last.seq,
      first_seq: 1,
      last_seq: last.seq,
      last_hash: last.hash,
      cut_at: null,
      broken_seq: null,
      why: null,
    });
  });

  test('of a file calls nobody', async () => {
    const { code } = await home.run(['audit', 'verify', whole], { env: { REEVE_API_URL: 'http://127.0.0.1:9' } });
    expect(code).toBe(0);
  });

  test.each<[string, (all: string[]) => string[], number, RegExp]>([
    [
      'content that was changed',
      (all) => all.with(5, all[5]?.replace('"decision":"allow"', '"decision":"deny"') ?? ''),
      6,
      /hash does not fit its content/,
    ],
    [
      'a hash that was changed',
      (all) => all.with(4, all[4]?.replace(/"hash":"(.)/, (_, first) => `"hash":"${first === '0' ? 1 : 0}`) ?? ''),
      5,
      /hash does not fit/,
    ],
    ['an entry that was taken out', (all) => all.toSpliced(6, 1), 8, /entries are missing between 6 and it/],
    ['entries in another order', (all) => all.with(5, all[6] ?? '').with(6, all[5] ?? ''), 6, /comes after entry 7/],
    ['an entry that is there twice', (all) => all.toSpliced(4, 0, all[4] ?? ''), 5, /comes after entry 5/],
  ])('names the first broken entry of %s', async (_what, tamper, seq, why) => {
    // A line that the tampering does not change would prove nothing.
    const tampered = tamper(lines());
    expect(tampered).not.toEqual(lines());
    const file = write('tampered.jsonl', tampered);
    const { code, stdout } = await run('audit', 'verify', file);
    expect([code, stdout]).toEqual([1, expect.stringMatching(new RegExp(`^Entry ${seq} is broken: `))]);
    expect(stdout).toMatch(why);
    const { stdout: json } = await run('audit', 'verify', file, '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({ result: 'broken', broken_seq: seq });
  });

  test('finds an entry that was forged together with its hash, by the link of the next', async () => {
    const { createHash } = await import('node:crypto');
    const { canonicalJson } = await import('@reeve/contract/audit');
    const { hash: _, ...entry } = JSON.parse(lines()[5] ?? '') as Record<string, unknown>;
    const forged = { ...entry, reason: 'something else' };
    const hash = createHash('sha256').update(canonicalJson(forged)).digest('hex');
    const file = write('forged.jsonl', lines().with(5, JSON.stringify({ ...forged, hash })));
    const { code, stdout } = await run('audit', 'verify', file);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^Entry 7 is broken: it does not link to the entry before it/),
    ]);
  });

  test.each([
    ['an org', 'org_id=acme'],
    ['a decision', 'decision=allow'],
    ['an event type', 'event_type=AgentRegistered'],
  ])(
    'of an export that was filtered by %s checks each hash, and says that the chain was not checkable',
    async (_what, query) => {
      const { text } = await gateway.api.get(`/api/v1/logs/export?${query}`, bootstrapKey);
      const part = text.trimEnd().split('\n');
      const file = write('filtered.jsonl', part);
      const { code, stdout } = await run('audit', 'verify', file);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/each one’s own hash fits\. The chain was not checkable/),
      ]);
      const seq = (JSON.parse(part[1] ?? '') as { seq: number }).seq;
      write('filtered.jsonl', part.with(1, part[1]?.replace(/"at":"2/, '"at":"3') ?? ''));
      const broken = await run('audit', 'verify', file);
      expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining(`Entry ${seq} is broken`)]);
      const strict = await run('audit', 'verify', write('filtered.jsonl', part), '--complete');
      expect([strict.code, strict.stdout]).toEqual([
        1,
        expect.stringMatching(/is broken: (entries are missing|the log starts with it)/),
      ]);
    },
  );

  test('of what was filtered by words says so once it is told that it is a part', async () => {
    const part = write('part.jsonl', lines().toSpliced(6, 1));
    expect(await run('audit', 'verify', part)).toMatchObject({ code: 1 });
    const { code, stdout } = await run('audit', 'verify', part, '--part');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('not checkable: it is a part of the log: entries are missing, the first after 6'),
    ]);
    expect(await run('audit', 'verify', part, '--part', '--complete')).toMatchObject({ code: 2 });
  });

  test('with a tenant’s key says that the chain was not checkable', async () => {
    const { key } = await makeKey(gateway, { org_id: 'other' });
    const { code, stdout } = await run('audit', 'verify', '--api-key', key);
    expect([code, stdout]).toEqual([0, expect.stringContaining('The chain was not checkable')]);
  });

  test.each([
    ['CSV', 'seq,at,event_type\n1,x,y\n', 1, /cannot be verified from CSV/],
    ['what is no JSON', '{"seq":1\n', 1, /line 1: it is not JSON; was the export cut off\?/],
    ['what is no entry', '{"hello":1}\n', 1, /line 1: it is not an entry/],
    ['nothing', '', 0, /^0 entries/],
  ])('of %s says so', async (_what, text, expected, words) => {
    const { code, stdout, stderr } = await home.run(['audit', 'verify', '-'], { input: text });
    expect([code, stdout + stderr]).toEqual([expected, expect.stringMatching(words)]);
  });

  test('of a file that is not there says so', async () => {
    const { code, stderr } = await run('audit', 'verify', join(home.path, 'nothing.jsonl'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: cannot read .*nothing\.jsonl/)]);
  });
});

test('a log that was cut is verified by the signature of the cut', async () => {
  const settings = { SVC_AUDIT_RETAIN_ENTRIES: '20', SVC_OPS_SWEEP_TICK_SECS: '0.1', SVC_OPS_TTL_SECS: '0.2' };
  await using cut = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: settings });
  const bot = await cut.register({ agentId: 'bot' });
  for (let at = 0; at < 60; at++) await cut.check(bot);
  const at = { REEVE_API_URL: cut.http, REEVE_API_KEY: bootstrapKey };
  const file = join(home.path, 'cut.jsonl');
  await eventually(async () => {
    const { code, stdout } = await home.run(['audit', 'verify'], { env: at });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/entries, unbroken, after a signed cut at \d+;/)]);
  }, 40);
  await home.run(['audit', 'export', '--out', file], { env: at });
  const fromFile = await home.run(['audit', 'verify', file, '--complete'], { env: at });
  expect([fromFile.code, fromFile.stdout]).toEqual([0, expect.stringContaining('after a signed cut at')]);
  const jwks = join(home.path, 'jwks.json');
  writeFileSync(jwks, (await cut.api.get('/.well-known/jwks.json')).text);
  const offline = await home.run(['audit', 'verify', file, '--complete', '--jwks', jwks], {
    env: { REEVE_API_URL: 'http://127.0.0.1:9' },
  });
  expect([offline.code, offline.stdout]).toEqual([0, expect.stringContaining('after a signed cut at')]);
  const { keys } = JSON.parse(readFileSync(jwks, 'utf8')) as { keys: object[] };
  const { publicKey } = generateKeyPairSync('ed25519');
  const others = keys.map((key) => ({ ...key, x: publicKey.export({ format: 'jwk' }).x }));
  writeFileSync(jwks, JSON.stringify({ keys: others }));
  const forged = await home.run(['audit', 'verify', file, '--complete', '--jwks', jwks]);
  expect([forged.code, forged.stdout]).toEqual([1, expect.stringContaining('nothing vouches for what was before')]);
  writeFileSync(jwks, '{"keys":[]}');
  const unsigned = await home.run(['audit', 'verify', file, '--complete', '--jwks', jwks]);
  expect([unsigned.code, unsigned.stdout]).toEqual([1, expect.stringContaining('nothing vouches for what was before')]);
});
