import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exit } from '../harness/gateway.ts';
import { allowAll, bootstrapKey, runServe, TestGateway } from '../harness/gateway.ts';

const ports = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'];

/** A start in a process whose files may not grow beyond this many bytes. To the store this is a full disk. */
async function startOnFullDisk(folder: string, bytes: number): Promise<Exit> {
  const serve = ['node_modules/.bin/reeve', 'serve', '--data', folder, ...ports];
  const child = spawn('prlimit', [`--fsize=${bytes}:unlimited`, ...serve], {
    env: { PATH: process.env['PATH'], HOME: folder, SVC_BOOTSTRAP_API_KEY: bootstrapKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    // There was enough room after all.
    child.kill('SIGTERM');
  });
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}

function expectOneLine({ code, stdout, stderr }: Exit, line: RegExp): void {
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split('\n'), stderr).toHaveLength(1);
  expect(stdout).toBe('');
  expect(code).toBe(1);
}

describe('a start that fails says why, and what to do, in one line', () => {
  let killed: string;
  const copies: string[] = [];

  function copy(): string {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-start-'));
    copies.push(folder);
    cpSync(killed, folder, { recursive: true });
    return folder;
  }

  beforeAll(async () => {
    const gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll } });
    killed = gateway.folder;
    const agent = await gateway.register({ agentId: 'a' });
    for (let i = 0; i < 50; i++) await gateway.check(agent);
    await gateway.kill('SIGKILL');
  });

  afterAll(() => {
    for (const folder of [killed, ...copies]) rmSync(folder, { recursive: true, force: true });
  });

  test('on a full disk after a kill, wherever in the start it shows', async () => {
    const says = /^reeve serve: cannot .*\/reeve-start-.*: .*; the disk is full or limited: make room/;
    for (const bytes of [0, 4096]) expectOneLine(await startOnFullDisk(copy(), bytes), says);
    // This much is enough if the kill came after a full checkpoint, because the WAL then starts anew.
    for (const bytes of [32_768, 65_536, statSync(join(killed, 'reeve.db-wal')).size]) {
      const exit = await startOnFullDisk(copy(), bytes);
      if (exit.stdout.includes('"listening"')) expect(exit.code).toBe(0);
      else expectOneLine(exit, says);
    }
  });

  test('where the disk is not full after all, it starts with what it had', async () => {
    const folder = copy();
    await using gateway = await TestGateway.start({ folder });
    expect(gateway.audit().filter((entry) => entry.event_type === 'ActionAllowed')).toHaveLength(50);
  });

  test.each([
    ['whose content is none', (db: string) => writeFileSync(db, 'this is no database, as anybody can see'.repeat(50))],
    ['that is a folder', (db: string) => execFileSync('sh', ['-c', 'rm -f "$0" "$0"-*; mkdir "$0"', db])],
  ])('on a database %s', async (_what, damage) => {
    const folder = copy();
    damage(join(folder, 'reeve.db'));
    rmSync(join(folder, 'reeve.db-wal'), { force: true });
    const exit = await runServe(['--data', folder, ...ports]);
    expectOneLine(exit, /^reeve serve: cannot open the store .*reeve\.db: .*; (the file is damaged|let the user)/);
  });

  test('on a database that is damaged in the middle', async () => {
    const gateway = await TestGateway.start({ folder: copy() });
    await gateway.kill('SIGTERM');
    const db = join(gateway.folder, 'reeve.db');
    execFileSync('sh', ['-c', `dd if=/dev/urandom of="$0" bs=4096 seek=1 count=40 conv=notrunc status=none`, db]);
    const exit = await runServe(['--data', gateway.folder, ...ports]);
    expectOneLine(exit, /^reeve serve: cannot .*; the file is damaged: restore the data folder from a backup/);
  });
});
