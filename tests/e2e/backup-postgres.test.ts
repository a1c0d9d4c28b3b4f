import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPostgres } from '../../scripts/find-postgres.ts';
import { tokenOf } from '../harness/credentials.ts';
import { EventSource } from '../harness/event-source.ts';
import { allowAll, bootstrapKey, TestGateway } from '../harness/gateway.ts';
import type { ProblemJson } from '../harness/person.ts';
import { Person } from '../harness/person.ts';
import { createDatabase } from '../harness/postgres.ts';
import { verifyChain } from '../harness/verify-chain.ts';

const programs = findPostgres() ?? '';
const run = (program: string, ...args: string[]) => execFileSync(join(programs, program), args, { stdio: 'pipe' });

async function cursorOf(gateway: TestGateway): Promise<number> {
  const source = await EventSource.open(gateway.http);
  const [hello] = source.messages;
  source.close();
  return Number((hello as { cursor?: number } | undefined)?.cursor);
}

/** The server from npm comes without these programs. */
test.skipIf(!existsSync(join(programs, 'pg_dump')))(
  'a database that pg_dump has saved under a running gateway is restored and goes on, once that is said',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'reeve-dump-'));
    const dump = join(place, 'reeve.dump');
    const policies = { 'all.yaml': allowAll };
    const source = await createDatabase();
    await using lost = await TestGateway.start({ database: source, policies });
    const refused = await lost.api.post<ProblemJson>('/api/v1/backup', bootstrapKey);
    expect(refused).toMatchObject({ status: 409, body: { code: 'backup_unsupported' } });
    expect(refused.body.detail).toContain('pg_dump');

    const agent = await lost.register({ agentId: 'a' });
    await lost.check(agent, { traceId: 'in', spanId: 'flight' });
    const ada = new Person(lost);
    await ada.register('ada@example.com');
    const token = await tokenOf(lost, bootstrapKey);
    run('pg_dump', '--format=custom', `--file=${dump}`, source.url);
    const head = lost.audit().at(-1);
    for (let i = 0; i < 5; i++) await lost.check(agent);
    const cursor = await cursorOf(lost);
    await lost.kill('SIGKILL');

    const empty = await createDatabase();
    run('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${empty.url}`, dump);
    await using gateway = await TestGateway.start({ database: empty, policies, args: ['--restored'] });
    expect(gateway.audit()[head?.seq ?? 0]).toMatchObject({
      event_type: 'BackupRestored',
      prev_hash: head?.hash,
      payload: { head_seq: head?.seq, sessions_ended: 1 },
    });
    expect((await gateway.api.get('/api/v1/auth/me', token)).status).toBe(401);
    const again = new Person(gateway);
    again.cookie = ada.cookie;
    expect((await again.refresh()).status).toBe(401);
    expect((await gateway.api.get('/api/v1/ops/in:flight', bootstrapKey)).status).toBe(200);
    expect((await gateway.check(agent)).decision).toBe(1);
    expect(await cursorOf(gateway)).toBeGreaterThan(cursor);
    const { body } = await gateway.api.get<{ gateways: object[] }>('/api/v1/cluster', bootstrapKey);
    expect(body.gateways).toHaveLength(1);
    expect(verifyChain(gateway.folder)).toMatchObject({ accepted: true });
    rmSync(place, { recursive: true });
  },
  120_000,
);
