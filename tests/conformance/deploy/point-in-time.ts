import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from '../../../scripts/find-postgres.ts';
import { eventually } from '../../harness/eventually.ts';
import { allowAll, runServe, TestGateway } from '../../harness/gateway.ts';
import type { TestDatabase } from '../../harness/postgres.ts';
import { TestPostgres } from '../../harness/postgres.ts';
import { verifyChain } from '../../harness/verify-chain.ts';
import type { Trials } from './trials.ts';

const policies = { 'all.yaml': allowAll };

/** What a gateway wrote up to the moment, and what came later and is lost. */
interface Story {
  readonly database: TestDatabase;
  readonly moment: string;
  readonly head: { readonly seq: number; readonly hash: string };
  readonly lostHead: { readonly seq: number };
  readonly anchor: string;
}

/** Restores PostgreSQL to a moment by a base backup and the archived log, as docs/operations/backup.md says it. */
export async function tryPointInTime({ trial, uses, missing, say }: Trials): Promise<void> {
  const programs = findPostgres() ?? '';
  if (!existsSync(join(programs, 'pg_basebackup'))) return missing('pg_basebackup: install the package postgresql');
  const version = execFileSync(join(programs, 'postgres'), ['--version'], { encoding: 'utf8' });
  uses('PostgreSQL', /\d[\d.]*/.exec(version)?.[0] ?? 'unknown version');
  say('archiving the log of a PostgreSQL server, and restoring it to a moment');
  const home = mkdtempSync(join(tmpdir(), 'reeve-moment-'));
  // The folder of the first server holds the backup and the archive, as another disk would.
  await using server = await TestPostgres.start({
    settings: {
      full_page_writes: 'on',
      archive_mode: 'on',
      archive_command: 'test ! -f ../wal/%f && mkdir -p ../wal && cp %p ../wal/%f',
    },
  });
  try {
    const story = await live(server, join(home, 'anchor.jsonl'));
    await using restored = await TestPostgres.recover(server.path('base'), {
      restore_command: `cp ${server.path('wal')}/%f %p`,
      recovery_target_time: story.moment,
      recovery_target_action: 'promote',
    });
    await goOn(restored, story, trial);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A gateway works before the base backup, after it, and after the moment. Then everything is lost. */
async function live(server: TestPostgres, anchor: string): Promise<Story> {
  const database = await server.createDatabase();
  const env = { SVC_AUDIT_ANCHOR: anchor, SVC_AUDIT_ANCHOR_SECS: '0.2' };
  await using gateway = await TestGateway.start({ database, policies, env });
  const agent = await gateway.register({ agentId: 'bot' });
  const work = async () => {
    for (let i = 0; i < 5; i++) await gateway.check(agent);
    return gateway.audit().at(-1) ?? { seq: 0, hash: '' };
  };
  await work();
  server.run('pg_basebackup', `--dbname=${server.url('postgres')}`, '--pgdata=base', '--checkpoint=fast');
  const head = await work();
  const [now] = await database.query('SELECT clock_timestamp()::text AS moment');
  const lostHead = await work();
  await gateway.kill('SIGTERM');
  const [last] = await database.query('SELECT pg_walfile_name(pg_switch_wal()) AS file');
  await eventually(() => ok(readdirSync(server.path('wal')).includes(String(last?.['file']))));
  await server.halt({ isCrash: true });
  return { database, moment: String(now?.['moment']), head, lostHead, anchor };
}

async function goOn(server: TestPostgres, story: Story, trial: Trials['trial']): Promise<void> {
  const { head, lostHead, database, anchor } = story;
  const url = server.url(database.name);
  const env = { SVC_AUDIT_ANCHOR: anchor, SVC_AUDIT_ANCHOR_SECS: '0.2' };
  const folder = mkdtempSync(join(tmpdir(), 'reeve-moment-gateway-'));
  await trial('a gateway with an anchor does not start on a log that lacks entries', async () => {
    const places = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--data', folder, '--restored'];
    const { code, stderr } = await runServe(places, { ...env, SVC_DATABASE_URL: url });
    equal(code, 1, stderr);
    match(stderr, /--accept-lost-entries/);
  });
  const args = ['--restored', '--accept-lost-entries'];
  await using gateway = await TestGateway.start({ folder, database: { url }, policies, env, args });
  await trial('the log ends at the moment, and goes on with BackupRestored', () => {
    const entries = gateway.audit();
    deepEqual(entries.find(({ seq }) => seq === head.seq)?.hash, head.hash);
    const next = entries.filter(({ seq }) => seq > head.seq);
    ok(lostHead.seq > head.seq);
    ok(next.some(({ event_type }) => event_type === 'BackupRestored'));
    ok(!next.some(({ event_type }) => event_type.startsWith('Action')), 'a decision after the moment came back');
    equal(next[0]?.prev_hash, head.hash);
  });
  await trial('it decides again, and the chain is whole', async () => {
    const agent = await gateway.register({ agentId: 'bot' });
    equal((await gateway.check(agent)).decision, 1);
    const { accepted, says } = verifyChain(gateway.folder);
    ok(accepted, says);
  });
  await trial('another start needs neither option', async () => {
    await using again = await gateway.restart('SIGTERM', { database: { url }, env });
    equal((await again.ready()).status, 200);
  });
}
