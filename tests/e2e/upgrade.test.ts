import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Left } from '../../scripts/reference-life.ts';
import { allowAll, runServe, TestGateway, toolCall } from '../harness/gateway.ts';
import { Person } from '../harness/person.ts';
import { createDatabase } from '../harness/postgres.ts';
import { verifyChain } from '../harness/verify-chain.ts';

/* Every version can be upgraded to this one: scripts/make-release-fixture.ts has kept what each has stored. */

const releases = 'tests/fixtures/releases';

type Kept = Left & { readonly schema: number; readonly head: { readonly seq: number; readonly hash: string } };
interface Expected {
  readonly sqlite: Kept;
  readonly postgres: Kept | null;
}

const cases = readdirSync(releases).flatMap((release) => {
  const { sqlite, postgres } = JSON.parse(readFileSync(join(releases, release, 'expected.json'), 'utf8')) as Expected;
  const stores = [{ release, store: 'SQLite', kept: sqlite }];
  return postgres === null ? stores : [...stores, { release, store: 'PostgreSQL', kept: postgres }];
});

function folderWith(policy: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-upgrade-'));
  mkdirSync(join(folder, 'policies'));
  writeFileSync(join(folder, 'policies', 'test.yaml'), policy);
  return folder;
}

/** A gateway of this version on what the release has left. */
async function upgraded(release: string, store: string): Promise<TestGateway> {
  const folder = folderWith('name: test\ndefault: allow\nrules:\n  - { name: no, effect: deny, tools: [rm] }\n');
  if (store === 'SQLite') {
    writeFileSync(join(folder, 'reeve.db'), gunzipSync(readFileSync(join(releases, release, 'reeve.db.gz'))));
    return TestGateway.start({ folder });
  }
  const database = await createDatabase();
  await database.query(gunzipSync(readFileSync(join(releases, release, 'database.sql.gz'))).toString());
  return TestGateway.start({ folder, database });
}

describe.each(cases)('what $release has left on $store', ({ release, store, kept }) => {
  test('is taken over: the chain is unbroken, and everybody and everything is known again', async () => {
    await using gateway = await upgraded(release, store);
    const log = gateway.audit();
    expect(log.find(({ seq }) => seq === kept.head.seq)?.hash).toBe(kept.head.hash);
    const agent = { id: { orgId: 'acme', teamId: 'core', agentId: 'a' }, token: kept.agentToken };
    expect(await gateway.check(agent, { context: toolCall('search') })).toMatchObject({ decision: 1 });
    expect(await gateway.check(agent, { context: toolCall('rm') })).toMatchObject({ decision: 2 });
    expect((await gateway.api.get('/api/v1/auth/me', kept.key)).status).toBe(200);
    expect((await gateway.api.get('/api/v1/auth/me', kept.revokedKey)).status).toBe(401);
    const op = await gateway.api.get<{ state: string }>('/api/v1/ops/fixture:running', kept.key);
    expect(op).toMatchObject({ status: 200, body: { state: 'running' } });
    expect(await gateway.complete(agent, 'fixture:running')).toMatchObject({ state: expect.any(String) });
    if (kept.email !== null) expect((await new Person(gateway).logIn(kept.email)).status).toBe(200);
    if (kept.storedPolicy) {
      expect(await gateway.check(agent, { context: toolCall('wire') })).toMatchObject({ policyRule: 'stored/no' });
    }
    if (kept.pendingApproval) {
      const all = await gateway.api.get<{ total: number }>('/api/v1/approvals?state=expired', kept.key);
      const open = await gateway.api.get<{ total: number }>('/api/v1/approvals', kept.key);
      expect(all.body.total + open.body.total).toBe(1);
    }
    const next = gateway.audit().find(({ seq }) => seq === kept.head.seq + 1);
    expect(next?.prev_hash).toBe(kept.head.hash);
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
  }, 60_000);
});

test('the present version has its fixture', () => {
  const version = (JSON.parse(readFileSync('packages/gateway/package.json', 'utf8')) as { version: string }).version;
  expect(readdirSync(releases)).toContain(version);
});

test('a data folder of a newer version is refused with one line, and stays as it is', async () => {
  const folder = folderWith(allowAll);
  writeFileSync(join(folder, 'reeve.db'), gunzipSync(readFileSync(join(releases, '0.1.0', 'reeve.db.gz'))));
  using db = new DatabaseSync(join(folder, 'reeve.db'));
  db.exec('PRAGMA user_version = 999');
  const { code, stdout, stderr } = await runServe(['--data', folder, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^reeve serve: cannot open the store .*: the store has version 999 .* made by a newer release; start that one, or restore a backup from before the upgrade\n$/,
  );
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 999 });
  rmSync(folder, { recursive: true });
});
