import { createPublicKey, verify } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { allowAll, bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';

interface Line {
  readonly seq: number;
  readonly hash: string;
  readonly at: string;
  readonly kid: string;
  readonly signature: string;
}

let home: string;
let anchor: string;
let env: Record<string, string>;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-anchor-'));
  anchor = join(home, 'anchor.jsonl');
  env = { SVC_AUDIT_ANCHOR: anchor, SVC_AUDIT_ANCHOR_SECS: '0.2' };
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const lines = (): Line[] =>
  readFileSync(anchor, 'utf8')
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Line] : []));

/** A gateway with some decisions, stopped. */
async function stoppedGateway(more: Record<string, string> = {}): Promise<TestGateway> {
  const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env: { ...env, ...more } });
  const agent = await gateway.register({ agentId: 'a' });
  for (let i = 0; i < 10; i++) await gateway.check(agent);
  expect(await gateway.kill('SIGTERM')).toBe(0);
  return gateway;
}

function change(gateway: TestGateway, sql: string): void {
  const db = new DatabaseSync(join(gateway.folder, 'reeve.db'));
  db.exec(sql);
  db.close();
}

async function refusedStart(gateway: TestGateway): Promise<string> {
  const ports = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];
  const { code, stdout, stderr } = await runServe(['--data', gateway.folder, ...ports], env);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  return stderr;
}

describe('the anchor', () => {
  test('gets the signed head every so often where it has moved, and at the end', async () => {
    const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    const agent = await gateway.register({ agentId: 'a' });
    const head = () => gateway.audit().at(-1);
    await eventually(() => expect(lines().at(-1)).toMatchObject({ seq: head()?.seq, hash: head()?.hash }));
    const quiet = lines().length;
    await gateway.check(agent);
    await eventually(() => expect(lines().at(-1)?.seq).toBe(head()?.seq));
    expect(lines()).toHaveLength(quiet + 1);
    const { keys } = (await gateway.api.get<{ keys: { kid: string }[] }>('/.well-known/jwks.json')).body;
    for (const line of lines()) {
      expect(Object.keys(line)).toEqual(['seq', 'hash', 'at', 'kid', 'signature']);
      const { seq, hash, at, kid, signature } = line;
      const key = createPublicKey({ key: keys.find((one) => one.kid === kid) ?? {}, format: 'jwk' });
      const text = `{"at":"${at}","hash":"${hash}","kid":"${kid}","seq":${seq}}`;
      expect(verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'))).toBe(true);
      expect(gateway.audit()[seq - 1]?.hash).toBe(hash);
    }
    expect((await gateway.ready()).body).toMatchObject({ status: 'ok', parts: { audit_anchor: { status: 'ok' } } });
    await gateway.check(agent);
    await gateway.kill('SIGTERM');
    expect(lines().at(-1)?.seq).toBe(head()?.seq);
    expect((statSync(anchor).mode & 0o777).toString(8)).toBe('600');
    await using again = await TestGateway.start({ folder: gateway.folder, env });
    expect((await again.check(agent)).decision).toBe(1);
  });

  test('that cannot be written is told of, and stops no decision; it goes on when it can', async () => {
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    const agent = await gateway.register({ agentId: 'a' });
    await eventually(() => expect(lines().at(-1)?.seq).toBe(gateway.audit().length));
    rmSync(anchor);
    mkdirSync(anchor);
    await gateway.check(agent);
    await eventually(async () => {
      const { status, body } = await gateway.ready();
      expect([status, body.status, body.parts['audit_anchor']?.status]).toEqual([200, 'degraded', 'degraded']);
    });
    expect(gateway.output().stderr).toContain('the audit log is not anchored');
    expect(await gateway.check(agent)).toMatchObject({ decision: 1 });
    rmSync(anchor, { recursive: true });
    await eventually(async () => expect((await gateway.ready()).body.status).toBe('ok'));
    expect(lines().at(-1)?.seq).toBe(gateway.audit().length);
  });
});

describe('a log whose end was cut off while the gateway was down', () => {
  test('stops the start with one line, unless the loss is accepted, which is audited', async () => {
    const gateway = await stoppedGateway();
    const anchored = lines().at(-1);
    const left = (anchored?.seq ?? 0) - 3;
    change(gateway, `DELETE FROM audit WHERE seq > ${left}`);
    const said = await refusedStart(gateway);
    expect(said).toContain(
      `has entry ${anchored?.seq} signed at ${anchored?.at}, and the audit log ends with entry ${left}`,
    );
    expect(said).toContain('--accept-lost-entries');
    expect(lines().at(-1)).toEqual(anchored);

    const accepted = await TestGateway.start({ folder: gateway.folder, env, args: ['--accept-lost-entries'] });
    const [lost, ...more] = accepted.audit().filter((entry) => entry.event_type === 'AuditEntriesLost');
    expect(more).toEqual([]);
    expect(lost).toMatchObject({
      seq: left + 1,
      payload: {
        anchored_seq: anchored?.seq,
        anchored_hash: anchored?.hash,
        head_seq: left,
        kept_seq: left,
        key_known: true,
      },
    });
    await accepted.kill('SIGKILL');
    // The loss is accepted for good, but only this loss.
    const again = await TestGateway.start({ folder: gateway.folder, env });
    expect(again.audit().filter((entry) => entry.event_type === 'AuditEntriesLost')).toHaveLength(1);
    await again.kill('SIGTERM');
    change(gateway, `DELETE FROM audit WHERE seq > ${left + 1}`);
    expect(await refusedStart(gateway)).toContain('its newest entries are lost');
    rmSync(gateway.folder, { recursive: true });
  });

  test('or whose newest entry was replaced, or that was made anew, stops it as well', async () => {
    const gateway = await stoppedGateway();
    const { seq = 0 } = lines().at(-1) ?? {};
    change(gateway, `UPDATE audit SET hash = '${'0'.repeat(64)}' WHERE seq = ${seq}`);
    expect(await refusedStart(gateway)).toContain('has another entry in its place');
    for (const name of ['reeve.db', 'reeve.db-wal', 'reeve.db-shm', 'audit-index.db']) {
      rmSync(join(gateway.folder, name), { force: true });
    }
    expect(await refusedStart(gateway)).toContain('with a key that this store does not have');
    const accepted = await TestGateway.start({ folder: gateway.folder, env, args: ['--accept-lost-entries'] });
    expect(accepted.audit()[0]).toMatchObject({ event_type: 'AuditEntriesLost', payload: { key_known: false } });
    await using again = await accepted.restart('SIGTERM', { env });
    expect((await again.ready()).status).toBe(200);
  });

  test('is not confused by signing keys that were removed as one was stolen, where the log has what it says', async () => {
    const gateway = await stoppedGateway();
    change(gateway, 'DELETE FROM signing_keys');
    const again = await TestGateway.start({ folder: gateway.folder, env });
    expect(again.audit().some(({ event_type }) => event_type === 'AuditEntriesLost')).toBe(false);
    await again.kill('SIGTERM');
    change(gateway, `DELETE FROM audit WHERE seq > ${(lines()[0]?.seq ?? 0) - 1}`);
    expect(await refusedStart(gateway)).toContain('its newest entries are lost');
    rmSync(gateway.folder, { recursive: true });
  });

  test('is not confused by what retention has given up', async () => {
    const retain = { SVC_AUDIT_RETAIN_ENTRIES: '20', SVC_OPS_SWEEP_TICK_SECS: '0.1', SVC_OPS_TTL_SECS: '0.2' };
    const gateway = await stoppedGateway({ ...retain, SVC_AUDIT_ANCHOR_SECS: '3600' });
    const unanchored = await TestGateway.start({ folder: gateway.folder, env: retain });
    const agent = await unanchored.register({ agentId: 'b' });
    const { seq = 0 } = lines().at(-1) ?? {};
    await eventually(async () => {
      for (let i = 0; i < 10; i++) await unanchored.check(agent);
      expect(unanchored.audit()[0]?.seq).toBeGreaterThan(seq + 1);
    }, 200);
    await using again = await unanchored.restart('SIGTERM', { env });
    expect((await again.ready()).status).toBe(200);
  });
});

describe('an anchor file', () => {
  test('whose last line was torn by a kill is taken up, and goes on with a line of its own', async () => {
    const gateway = await stoppedGateway();
    const whole = readFileSync(anchor, 'utf8');
    appendFileSync(anchor, whole.slice(0, 57));
    const again = await TestGateway.start({ folder: gateway.folder, env });
    await again.register({ agentId: 'b' });
    await again.kill('SIGTERM');
    expect(lines().at(-1)?.seq).toBe(again.audit().length);
    await using third = await TestGateway.start({ folder: gateway.folder, env });
    expect((await third.ready()).status).toBe(200);
  });

  test('that was deleted begins anew', async () => {
    const gateway = await stoppedGateway();
    rmSync(anchor);
    await using again = await TestGateway.start({ folder: gateway.folder, env });
    await eventually(() => expect(lines().length).toBeGreaterThan(0));
    expect((await again.ready()).body.status).toBe('ok');
  });

  test('with a line that was forged, or that is none, stops the start and says so', async () => {
    const gateway = await stoppedGateway();
    const whole = readFileSync(anchor, 'utf8');
    const [first] = lines();
    writeFileSync(anchor, `${whole}${JSON.stringify({ ...first, seq: 1 })}\n`);
    expect(await refusedStart(gateway)).toContain('is forged: the anchor of entry 1');
    writeFileSync(anchor, `${whole}hello\n`);
    expect(await refusedStart(gateway)).toContain('a line that is no anchor');
    writeFileSync(anchor, whole);
    env['SVC_AUDIT_ANCHOR'] = join(home, 'no', 'such', 'folder.jsonl');
    expect(await refusedStart(gateway)).toMatch(
      /SVC_AUDIT_ANCHOR: .*folder\.jsonl cannot be read and appended to: ENOENT/,
    );
    rmSync(gateway.folder, { recursive: true });
  });

  test('has no place beside a store that keeps nothing', async () => {
    const { code, stderr } = await runServe(['--database', 'memory:'], env);
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is nothing to anchor with "memory:"')]);
  });
});

test('gateways on one PostgreSQL have a file each; the log may be ahead of it, but not behind', async () => {
  const database = await createDatabase();
  const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, database, env });
  const agent = await gateway.register({ agentId: 'a' });
  await gateway.check(agent);
  expect(await gateway.kill('SIGTERM')).toBe(0);
  const anchored = lines().at(-1)?.seq ?? 0;
  const other = await TestGateway.start({ database });
  await other.register({ agentId: 'b' });
  await other[Symbol.asyncDispose]();
  const again = await TestGateway.start({ folder: gateway.folder, database, env });
  expect(await again.kill('SIGTERM')).toBe(0);
  await database.query(`DELETE FROM audit WHERE seq >= ${anchored}`);
  await database.query(`UPDATE chain SET (seq, hash) = (SELECT seq, hash FROM audit WHERE seq = ${anchored - 1})`);
  Object.assign(env, { SVC_DATABASE_URL: database.url, SVC_LOG_LEVEL: 'warn' });
  expect(await refusedStart(gateway)).toContain(`the audit log ends with entry ${anchored - 1}`);
  const accepted = await TestGateway.start({ folder: gateway.folder, env, args: ['--accept-lost-entries'] });
  const { body } = await accepted.api.get<{ items: { event_type: string }[] }>(
    '/api/v1/logs?event_type=AuditEntriesLost',
    bootstrapKey,
  );
  expect(body.items).toHaveLength(1);
  await accepted[Symbol.asyncDispose]();
  await database.drop();
});

test('reeve audit verify --anchor proves the same, online and offline', async () => {
  const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
  const agent = await gateway.register({ agentId: 'a' });
  for (let i = 0; i < 5; i++) await gateway.check(agent);
  await eventually(() => expect(lines().at(-1)?.seq).toBe(gateway.audit().length));
  using cli = new TestHome();
  const at = { REEVE_API_URL: gateway.http, REEVE_API_KEY: bootstrapKey };
  const online = await cli.run(['audit', 'verify', '--anchor', anchor], { env: at });
  expect([online.code, online.stdout]).toEqual([
    0,
    expect.stringMatching(/unbroken.*\. It contains all \d+ anchors?; the newest is of entry \d+ at /),
  ]);

  const file = join(home, 'log.jsonl');
  const jwks = join(home, 'jwks.json');
  await cli.run(['audit', 'export', '--out', file], { env: at });
  writeFileSync(jwks, (await gateway.api.get('/.well-known/jwks.json')).text);
  await gateway[Symbol.asyncDispose]();
  const offline = (...more: string[]) =>
    cli.run(['audit', 'verify', file, '--anchor', anchor, '--jwks', jwks, ...more], {
      env: { REEVE_API_URL: 'http://127.0.0.1:9' },
    });
  expect(await offline()).toMatchObject({ code: 0 });
  const whole = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(file, `${whole.slice(0, -2).join('\n')}\n`);
  const cut = await offline();
  expect([cut.code, cut.stdout]).toEqual([
    1,
    expect.stringMatching(/^Broken: entry \d+ was anchored at .*: its newest entries are missing/),
  ]);
  expect(JSON.parse((await offline('-o', 'json')).stdout)).toMatchObject({
    result: 'broken',
    anchors: { lines: lines().length, newest_seq: whole.length },
  });
  expect(await cli.run(['audit', 'verify', file])).toMatchObject({ code: 0 });

  writeFileSync(file, `${whole.join('\n')}\n`);
  const [first] = lines();
  appendFileSync(anchor, `${JSON.stringify({ ...first, hash: '0'.repeat(64) })}\n`);
  const forged = await offline();
  expect([forged.code, forged.stdout]).toEqual([1, expect.stringMatching(/line \d+ of the anchor is forged/)]);
  writeFileSync(anchor, `${JSON.stringify({ ...first, kid: 'other' })}\n`);
  const foreign = await offline();
  expect([foreign.code, foreign.stdout]).toEqual([
    1,
    expect.stringContaining('line 1 of the anchor is of another log'),
  ]);
  writeFileSync(anchor, 'hello\n');
  const none = await offline();
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('line 1: it is no anchor')]);
});
