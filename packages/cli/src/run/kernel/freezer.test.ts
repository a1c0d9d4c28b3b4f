import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempDisposableSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../tests/harness/eventually.ts';
import { standStillOf } from '../cgroup/group-freezer.ts';
import { SignalFreezer } from './freezer.ts';
import { isHeld, processesBelow } from './process-table.ts';
import { signal } from './signal.ts';

const continued = 'the processes were continued meanwhile';

describe.runIf(process.platform === 'linux').each(['by signals', 'standing still meanwhile'])('a program %s', (way) => {
  let folder: string;
  let shell: ChildProcess;
  let first: number;
  let freezer: SignalFreezer;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'reeve-freezer-'));
    writeFileSync(join(folder, 'freezer.state'), 'THAWED');
    // In a group of its own: that of this process is never stopped.
    shell = spawn('sh', ['-c', 'sleep 1000 & sleep 1000 & wait'], { detached: true, stdio: 'ignore' });
    first = shell.pid ?? 0;
    freezer = new SignalFreezer(first, way === 'by signals' ? undefined : standStillOf(folder));
    await eventually(() => expect(processesBelow(first)).toHaveLength(3));
  });

  afterEach(() => {
    signal(-first, 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const held = () =>
    processesBelow(first)
      .filter(isHeld)
      .map(({ pid }) => pid);

  async function stoppedByItself(): Promise<number> {
    const job = processesBelow(first).at(-1)?.pid ?? 0;
    signal(job, 'SIGSTOP');
    await eventually(() => expect(held()).toEqual([job]));
    return job;
  }

  test('that is paused, resumed and paused again at once goes on with the next resume', async () => {
    const interrupted = freezer.freeze();
    expect(freezer.thaw()).toBe(3);
    const paused = freezer.freeze();
    await expect(interrupted).rejects.toThrow(continued);
    expect(await paused).toBe(3);
    // As the keeper does all the time.
    expect(await freezer.freeze()).toBe(3);
    expect(held()).toHaveLength(3);
    expect(freezer.thaw()).toBe(3);
    expect(freezer.isFrozen).toBe(false);
    await eventually(() => expect(held()).toEqual([]));
  });

  test('is left alone by what a resume has interrupted, however often, and so is what had stopped by itself', async () => {
    const job = await stoppedByItself();
    const interrupted = [1, 2, 3].map(() => {
      const paused = freezer.freeze();
      freezer.thaw();
      return paused;
    });
    for (const { status } of await Promise.allSettled(interrupted)) expect(status).toBe('rejected');
    expect(freezer.isFrozen).toBe(false);
    await eventually(() => expect(held()).toEqual([job]));
  });

  test('keeps stopped what had stopped by itself, also when it is paused again at once', async () => {
    const job = await stoppedByItself();
    const interrupted = freezer.freeze();
    expect(freezer.thaw()).toBe(2);
    const paused = freezer.freeze();
    await expect(interrupted).rejects.toThrow(continued);
    expect(await paused).toBe(3);
    expect(freezer.thaw()).toBe(2);
    await eventually(() => expect(held()).toEqual([job]));
  });
});

/** It adopts what loses its parent, as the first process of a namespace does, and has left so much that a list takes long. */
const hopper = `syscall(${process.arch === 'x64' ? 157 : 167}, 36, 1, 0, 0, 0);
for (1..1500) { exit unless fork }
open my $hops, '>', $ARGV[0]; $hops->autoflush;
if (fork) { sleep 1000 while 1 }
for (1..3000) { exit if fork; POSIX::setsid(); print $hops '.' }
sleep 1000 while 1`;

test.runIf(process.platform === 'linux')('a program that flees from process to process is chased', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'reeve-freezer-'));
  const hops = join(folder.path, 'hops');
  const command = ['-MPOSIX', '-MIO::Handle', '-e', hopper, hops];
  const first = spawn('perl', command, { detached: true, stdio: 'ignore' }).pid ?? 0;
  try {
    await eventually(() => expect(statSync(hops).size).toBeGreaterThan(0));
    await new SignalFreezer(first).freeze();
    expect(statSync(hops).size).toBeLessThan(3000);
  } finally {
    for (const { pid } of processesBelow(first).filter(({ isOver }) => !isOver)) signal(pid, 'SIGKILL');
  }
});
