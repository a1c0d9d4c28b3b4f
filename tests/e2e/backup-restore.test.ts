import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { ControlStream } from '../harness/control-stream.ts';
import type { CreatedKey } from '../harness/credentials.ts';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import { EventSource } from '../harness/event-source.ts';
import type { Exit, Registered } from '../harness/gateway.ts';
import { bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';
import { Person } from '../harness/person.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/* A gateway is backed up while it runs, goes on, is lost, and comes back from the backup. */

const policy = 'name: test\ndefault: allow\nbudget: { daily_limit_usd: 10 }\n';
const op = { traceId: 'in', spanId: 'flight', estimatedCostMicros: 4_000_000 };
const opPath = '/api/v1/ops/in:flight';

let place: string;
let home: TestHome;
let file: string;
let lost: TestGateway;
let gateway: TestGateway;
let agent: Registered;
let revokedBefore: CreatedKey;
let revokedAfter: CreatedKey;
let tokens: string[];
let ada: Person;
let loggedOut: Person;
let invite: string;
let sequence: number;
let cursor: number;
let restoredText: string;
let rolledBack: Exit;

async function revoke(key: CreatedKey): Promise<void> {
  expect(await lost.api.post(`/api/v1/iam/api-keys/${key.id}/revoke`, bootstrapKey)).toMatchObject({ status: 200 });
}

async function cursorOf(of: TestGateway): Promise<number> {
  const source = await EventSource.open(of.http);
  const [hello] = source.messages;
  source.close();
  return Number((hello as { cursor?: number } | undefined)?.cursor);
}

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'reeve-backup-'));
  home = new TestHome();
  file = join(place, 'monday.backup');
  const anchor = { SVC_AUDIT_ANCHOR: join(place, 'anchor.jsonl') };
  lost = await TestGateway.start({ policies: { 'a.yaml': policy }, fromSources: true, env: anchor });
  agent = await lost.register({ agentId: 'a' });
  await lost.check(agent, op);
  revokedBefore = await makeKey(lost);
  revokedAfter = await makeKey(lost);
  ada = new Person(lost);
  await ada.register('ada@example.com');
  loggedOut = new Person(lost);
  await loggedOut.logIn('ada@example.com');
  const stolen = loggedOut.cookie;
  await loggedOut.logOut();
  loggedOut.cookie = stolen;
  const asked = await lost.api.post<{ token: string }>('/api/v1/auth/invite', bootstrapKey, {
    email: 'bob@example.com',
  });
  invite = asked.body.token;
  tokens = [await tokenOf(lost, bootstrapKey), await tokenOf(lost, revokedBefore.key), ada.accessToken ?? ''];
  await revoke(revokedBefore);

  const env = { REEVE_API_KEY: bootstrapKey, REEVE_API_URL: lost.http };
  expect(await home.run(['backup', 'create', file], { env })).toMatchObject({ code: 0 });

  // What happens now is not in the backup.
  await revoke(revokedAfter);
  const stream = await ControlStream.open(lost, agent);
  await lost.api.post(`${opPath}/pause`, bootstrapKey, {});
  await stream.heard(1);
  sequence = stream.messages[0]?.sequence ?? 0;
  stream.cancel();
  cursor = await cursorOf(lost);
  await lost.kill('SIGTERM');
  const data = join(place, 'restored');
  const restored = await home.run(['backup', 'restore', file, '--data', data]);
  expect(restored).toMatchObject({ code: 0 });
  restoredText = restored.stderr;
  rolledBack = await runServe(['--data', data, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'], anchor);
  gateway = await TestGateway.start({ folder: data, env: anchor, args: ['--accept-lost-entries'] });
}, 120_000);
afterAll(async () => {
  await lost[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  home[Symbol.dispose]();
  rmSync(place, { recursive: true, force: true });
});

test('a backup is audited before it leaves, and says up to where it goes', () => {
  const made = lost.audit().find((entry) => entry.event_type === 'BackupCreated');
  expect(made).toMatchObject({ actor: { kind: 'api_key' }, payload: { head_seq: (made?.seq ?? 0) - 1 } });
  expect(made?.payload['head_hash']).toBe(made?.prev_hash);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  expect(readdirSync(lost.folder).filter((name) => name.startsWith('.backup-'))).toEqual([]);
});

describe('a restored gateway', () => {
  test('goes on with the chain, and its log says once that it was restored', async () => {
    const all = gateway.audit();
    const restored = all.filter((entry) => entry.event_type === 'BackupRestored');
    const made = lost.audit().find((entry) => entry.event_type === 'BackupCreated');
    expect(restored).toHaveLength(1);
    expect(restored[0]).toMatchObject({
      payload: { head_seq: made?.payload['head_seq'], sessions_ended: 1, invites_removed: 1 },
    });
    const [first, second] = all.filter(({ seq }) => seq >= (made?.seq ?? 0));
    expect(first).toMatchObject({ event_type: 'AuditEntriesLost', prev_hash: made?.prev_hash });
    expect(second).toEqual(restored[0]);
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
    expect(restoredText).toContain('is in force again');
  });

  test('does not start by itself where an anchor knows of later entries', () => {
    expect([rolledBack.code, rolledBack.stdout]).toEqual([1, '']);
    expect(rolledBack.stderr).toContain('its newest entries are lost');
  });

  test('has private files, and the policies of the backup', async () => {
    const mode = (name: string) => (statSync(join(gateway.folder, name)).mode & 0o777).toString(8);
    expect([mode(''), mode('reeve.db'), mode('policies'), mode('policies/a.yaml')]).toEqual([
      '700',
      '600',
      '700',
      '600',
    ]);
    const { body } = await gateway.api.get<{ items: { name: string }[] }>('/api/v1/policies', bootstrapKey);
    expect(body.items.map(({ name }) => name)).toEqual(['test']);
  });

  test('refuses what had been revoked before the backup', async () => {
    expect(await gateway.api.get('/api/v1/auth/me', revokedBefore.key)).toMatchObject({ status: 401 });
    const again = new Person(gateway);
    again.cookie = loggedOut.cookie;
    expect(await again.refresh()).toMatchObject({ status: 401 });
  });

  test('refuses every token, session and link from before, and gives new ones', async () => {
    for (const token of tokens) expect(await gateway.api.get('/api/v1/auth/me', token)).toMatchObject({ status: 401 });
    const again = new Person(gateway);
    again.cookie = ada.cookie;
    expect(await again.refresh()).toMatchObject({ status: 401 });
    expect(await new Person(gateway).accept(invite)).toMatchObject({ status: 422, body: { code: 'invalid_token' } });
    const anew = new Person(gateway);
    expect(await anew.logIn('ada@example.com')).toMatchObject({ status: 200 });
    expect(await anew.call('GET', '/api/v1/auth/me')).toMatchObject({ status: 200 });
    const token = await tokenOf(gateway, bootstrapKey);
    expect(await gateway.api.get('/api/v1/auth/me', token)).toMatchObject({ status: 200 });
  });

  test('does not know what was revoked after the backup, and warned of it', async () => {
    expect(await gateway.api.get('/api/v1/auth/me', revokedAfter.key)).toMatchObject({ status: 200 });
    expect(gateway.output().stderr).toContain('revoked after the backup');
  });

  test('treats operations in flight as after a crash', async () => {
    const { body } = await gateway.api.get<{ state: string; cost_micros: number }>(opPath, bootstrapKey);
    expect(body).toMatchObject({ state: 'running', cost_micros: 4_000_000 });
    expect(await gateway.check(agent, op)).toMatchObject({ decision: 1 });
    const over = await gateway.check(agent, { estimatedCostMicros: 7_000_000 });
    expect(over).toMatchObject({ decision: 2, limit: { tier: 'global' } });
    const budgets = await gateway.api.get<{ items: object[] }>('/api/v1/budgets', bootstrapKey);
    expect(budgets.body.items[0]).toMatchObject({ tier: 'global', spent_usd: '0.00', reserved_usd: '4.00' });
  });

  test('counts on above what was counted after the backup: ids of events, and numbers of controls', async () => {
    expect(await cursorOf(gateway)).toBeGreaterThan(cursor);
    const stream = await ControlStream.open(gateway, agent, sequence + 1000);
    await gateway.api.post(`${opPath}/terminate`, bootstrapKey, {});
    expect((await stream.heard(1))[0]).toMatch(/^\d+ terminate in:flight$/);
    stream.cancel();
  });

  test('says it once only, also over the next restart, and accepts its own tokens then', async () => {
    const token = await tokenOf(gateway, bootstrapKey);
    gateway = await gateway.restart('SIGKILL');
    expect(gateway.audit().filter((entry) => entry.event_type === 'BackupRestored')).toHaveLength(1);
    expect(await gateway.api.get('/api/v1/auth/me', token)).toMatchObject({ status: 200 });
    const stream = await ControlStream.open(gateway, agent, sequence + 1000);
    await gateway.check(agent, { traceId: 'next', spanId: 'op' });
    await gateway.api.post('/api/v1/ops/next:op/pause', bootstrapKey, {});
    expect((await stream.heard(2)).at(-1)).toMatch(/pause next:op$/);
    stream.cancel();
  });
});
