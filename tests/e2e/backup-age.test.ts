import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestHome } from '../harness/cli.ts';
import { eventually } from '../harness/eventually.ts';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';

/* Monitoring can tell how old the last backup is. */

let place: string;
let home: TestHome;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'reeve-backup-age-'));
  home = new TestHome();
});
afterAll(() => {
  home[Symbol.dispose]();
  rmSync(place, { recursive: true, force: true });
});

const metric = 'reeve_backup_last_success_timestamp_seconds';

async function lastBackup(gateway: TestGateway): Promise<number | undefined> {
  const text = await (await fetch(`${gateway.http}/metrics`)).text();
  expect(text).toContain(`# TYPE ${metric} gauge`);
  const sample = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1];
  return sample === undefined ? undefined : Number(sample);
}

async function takeBackup(gateway: TestGateway, file: string): Promise<number> {
  const env = { REEVE_API_KEY: bootstrapKey, REEVE_API_URL: gateway.http };
  expect(await home.run(['backup', 'create', file], { env })).toMatchObject({ code: 0 });
  const { created_at } = await home.json<{ created_at: string }>(['backup', 'verify', file]);
  return Date.parse(created_at) / 1000;
}

test('the metrics say when the last backup was made, also after a restart and a restore, and nothing before the first', async () => {
  const file = join(place, 'first.backup');
  const killed = await TestGateway.start({ folder: join(place, 'data') });
  expect(await lastBackup(killed)).toBeUndefined();
  const made = await takeBackup(killed, file);
  await eventually(async () => expect(await lastBackup(killed)).toBe(made));
  await killed.kill('SIGKILL');

  await using restarted = await TestGateway.start({ folder: killed.folder });
  expect(await lastBackup(restarted)).toBe(made);
  const again = await takeBackup(restarted, join(place, 'second.backup'));
  expect(again).toBeGreaterThan(made);
  await eventually(async () => expect(await lastBackup(restarted)).toBe(again));

  const folder = join(place, 'restored');
  expect(await home.run(['backup', 'restore', file, '--data', folder])).toMatchObject({ code: 0 });
  await using restored = await TestGateway.start({ folder });
  expect(await lastBackup(restored)).toBe(made);
});
