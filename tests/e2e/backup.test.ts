import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { makeKey } from '../harness/credentials.ts';
import { eventually } from '../harness/eventually.ts';
import type { Exit } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';
import type { ProblemJson } from '../harness/person.ts';
import { statusesOf } from '../harness/person.ts';

const ports = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];
const retention = { SVC_AUDIT_RETAIN_ENTRIES: '30', SVC_OPS_SWEEP_TICK_SECS: '0.1', SVC_OPS_TTL_SECS: '0.2' };

let place: string;
let home: TestHome;
let gateway: TestGateway;
beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'reeve-backup-'));
  home = new TestHome();
  // Left behind by a backup that was killed.
  const folder = join(place, 'data');
  mkdirSync(join(folder, '.backup-killed'), { recursive: true });
  gateway = await TestGateway.start({ folder, policies: { 'all.yaml': allowAll }, env: retention });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  home[Symbol.dispose]();
  rmSync(place, { recursive: true, force: true });
});

const at = (name: string) => join(place, name);
const reeve = (...args: string[]): Promise<Exit> =>
  home.run(['backup', ...args], { env: { REEVE_API_KEY: bootstrapKey, REEVE_API_URL: gateway.http } });
const post = (bearer: string) => gateway.api.post<ProblemJson>('/api/v1/backup', bearer);

async function failing(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await reeve(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  return stderr;
}

describe('over HTTP', () => {
  test('only an unbound admin gets a backup', async () => {
    const tenant = await makeKey(gateway, { scopes: ['admin'], org_id: 'acme' });
    expect(await post(tenant.key)).toMatchObject({ status: 403, body: { code: 'tenant_bound' } });
    const writer = await makeKey(gateway, { scopes: ['write'] });
    expect(await post(writer.key)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    expect(gateway.audit().some((entry) => entry.event_type === 'BackupCreated')).toBe(false);
  });

  test('there is one at a time; one that nobody reads on leaves nothing behind', async () => {
    const headers = { authorization: `Bearer ${bootstrapKey}` };
    const asked = [1, 2, 3].map(() => fetch(`${gateway.http}/api/v1/backup`, { method: 'POST', headers }));
    const answers = await Promise.all(asked);
    expect(statusesOf(answers)).toEqual([200, 409, 409]);
    const refused = answers.filter(({ status }) => status === 409);
    for (const answer of refused) expect(await answer.json()).toMatchObject({ code: 'backup_running' });
    const given = answers.find(({ status }) => status === 200);
    expect(given?.headers.get('content-type')).toBe('application/gzip');
    expect(given?.headers.get('content-disposition')).toMatch(/^attachment; filename="reeve-\d{8}T\d{6}Z\.backup"$/);
    await given?.body?.cancel();
    await eventually(async () => expect((await post(bootstrapKey)).status).toBe(200));
    await eventually(() => expect(readdirSync(gateway.folder).filter((name) => name.startsWith('.'))).toEqual([]));
    expect(gateway.audit().filter((entry) => entry.event_type === 'BackupCreated')).toHaveLength(2);
  });

  test('a gateway that keeps nothing says so', async () => {
    await using nothing = await TestGateway.start({ args: ['--database', 'memory:'] });
    const answer = await nothing.api.post<ProblemJson>('/api/v1/backup', bootstrapKey);
    expect(answer).toMatchObject({ status: 409, body: { code: 'backup_unsupported' } });
    expect(answer.body.detail).toContain('keeps nothing');
    const { code, stderr } = await runServe(['--restored', '--database', 'memory:', ...ports]);
    expect([code, stderr]).toEqual([2, 'reeve serve: --restored: the store in memory is always new\n']);
  });
});

describe('a backup of a log that retention has cut', () => {
  beforeAll(async () => {
    const agent = await gateway.register({ agentId: 'a' });
    for (let i = 0; i < 60; i++) await gateway.check(agent, { traceId: 'many', spanId: `${i}` });
    await eventually(() => expect(gateway.audit()[0]?.seq).toBeGreaterThan(1));
    writeFileSync(at('passphrase'), 'correct horse battery staple\n');
    writeFileSync(at('wrong'), 'incorrect horse battery staple\n');
    expect(await reeve('create', at('plain'))).toMatchObject({ code: 0 });
    const encrypted = await reeve('create', at('sealed'), '--passphrase-file', at('passphrase'), '--output', 'json');
    expect(JSON.parse(encrypted.stdout)).toMatchObject({ encrypted: true, format: 1, policies: 'included' });
  });

  test('verifies, as the manifest says', async () => {
    type Verified = { head: { seq: number; hash: string }; first_seq: number; cut_at: number; entries: number };
    const said = await home.json<Verified>(['backup', 'verify', at('plain')]);
    expect(said).toMatchObject({ cut_at: said.first_seq - 1, entries: said.head.seq - said.cut_at });
    expect(gateway.audit().find(({ seq }) => seq === said.head.seq)?.hash).toBe(said.head.hash);
  });

  test('is never overwritten unless that is asked for', async () => {
    const before = readFileSync(at('plain'));
    expect(await failing('create', at('plain'))).toContain('--force');
    expect(readFileSync(at('plain'))).toEqual(before);
    expect(await reeve('create', at('plain'), '--force')).toMatchObject({ code: 0 });
    expect(readdirSync(place).filter((name) => name.includes('.part'))).toEqual([]);
  });

  test('under a passphrase needs that one', async () => {
    expect(await reeve('verify', at('sealed'), '--passphrase-file', at('passphrase'))).toMatchObject({ code: 0 });
    expect(await failing('verify', at('sealed'))).toContain('--passphrase-file');
    const said = await failing('restore', at('sealed'), '--data', at('x'), '--passphrase-file', at('wrong'));
    expect(said).toContain('the passphrase is wrong, or the file is damaged');
    expect(readdirSync(place)).not.toContain('x');
  });

  test('leaves nothing readable behind when its verification is interrupted', async () => {
    mkdirSync(at('temporary'));
    const unpacked = () => readdirSync(at('temporary')).filter((name) => name.startsWith('reeve-verify-'));
    await using verifying = home.start(['backup', 'verify', at('sealed'), '--passphrase-file', at('passphrase')], {
      env: { TMPDIR: at('temporary') },
    });
    await eventually(() => expect(unpacked()).toHaveLength(1));
    verifying.child.kill('SIGINT');
    await verifying.ended();
    expect([verifying.child.signalCode, unpacked()]).toEqual(['SIGINT', []]);
  });

  test('that is damaged is refused whole, wherever the damage is', async () => {
    const good = readFileSync(at('plain'));
    const middle = Math.floor(good.length / 2);
    const changed = Buffer.from(good);
    // A single bit may be one that decides nothing.
    changed.fill(0x55, middle, middle + 64);
    const kinds = { cut: good.subarray(0, middle), changed, 'something else': Buffer.from('no backup at all') };
    for (const [name, bytes] of Object.entries(kinds)) {
      writeFileSync(at(name), bytes);
      expect(await failing('restore', at(name), '--data', at('x'))).toContain(`${at(name)}: `);
      expect(readdirSync(place)).not.toContain('x');
    }
    writeFileSync(at('longer'), good);
    appendFileSync(at('longer'), 'more');
    expect(await failing('verify', at('longer'))).toContain(at('longer'));
  });

  test('goes only into a folder that is new or empty', async () => {
    mkdirSync(at('full'));
    writeFileSync(at('full/note'), '');
    expect(await failing('restore', at('plain'), '--data', at('full'))).toContain('is not empty (it holds note)');
    expect(readdirSync(at('full'))).toEqual(['note']);
    expect(await failing('restore', at('plain'), '--data', gateway.folder)).toContain('is not empty');
    // As a restore leaves it that was killed.
    mkdirSync(at('empty/.restore-killed'), { recursive: true });
    expect(await reeve('restore', at('plain'), '--data', at('empty'))).toMatchObject({ code: 0 });
    expect(readdirSync(at('empty')).toSorted()).toEqual(['gateway.lock', 'gateway.pid', 'policies', 'reeve.db']);
  });
});

describe('of a data folder', () => {
  test('in use nothing is made', async () => {
    expect(await failing('create', at('busy'), '--data', gateway.folder)).toContain('is in use by another gateway');
    expect(await failing('create', at('none'), '--data', at('nowhere'))).toContain('there is no store in');
    expect(readdirSync(place)).not.toContain('busy');
  });

  test('that is stopped, a log that somebody has changed is found by verify and never restored', async () => {
    await gateway.kill('SIGKILL');
    expect(await reeve('create', at('stopped'), '--data', gateway.folder)).toMatchObject({ code: 0 });
    expect(await reeve('verify', at('stopped'))).toMatchObject({ code: 0 });
    const db = new DatabaseSync(join(gateway.folder, 'reeve.db'));
    db.exec(`UPDATE audit SET canonical = replace(canonical, '"allow"', '"deny"')`);
    db.close();
    expect(await reeve('create', at('tampered'), '--data', gateway.folder)).toMatchObject({ code: 0 });
    expect(await failing('verify', at('tampered'))).toContain('the chain of its log is broken');
    expect(await failing('restore', at('tampered'), '--data', at('x'))).toContain('the chain of its log is broken');
    expect(readdirSync(place)).not.toContain('x');
  });
});
