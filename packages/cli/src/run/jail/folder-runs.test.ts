import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { FolderRuns } from './folder-runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-runs-'));
const other = mkdtempSync(join(tmpdir(), 'reeve-runs-'));
afterAll(() => {
  for (const each of [folder, other]) rmSync(each, { recursive: true });
});

describe.skipIf(process.platform !== 'linux')('runs in one folder', () => {
  test('the last that leaves takes away what they stand on, and none before', async () => {
    const said: string[] = [];
    const [one, two, elsewhere] = [new FolderRuns(folder), new FolderRuns(folder), new FolderRuns(other)];
    await Promise.all([one, two, elsewhere].map((runs) => runs.enter(() => {})));
    await one.leave(() => said.push('one'));
    await one.enter(() => {});
    await two.leave(() => said.push('two'));
    await one.leave(() => said.push('one again'));
    await elsewhere.leave(() => said.push('elsewhere'));
    expect(said).toEqual(['one again', 'elsewhere']);
  });

  test('those that leave at once leave nothing behind', async () => {
    const runs = Array.from({ length: 8 }, () => new FolderRuns(folder));
    let last = 0;
    await Promise.all(runs.map((each) => each.enter(() => {})));
    await Promise.all(runs.map((each) => each.leave(() => void last++)));
    expect(last).toBe(1);
  });

  test('nobody joins while the last takes things away', async () => {
    const [one, two] = [new FolderRuns(folder), new FolderRuns(folder)];
    await one.enter(() => {});
    let joining: Promise<unknown> | undefined;
    const said: string[] = [];
    await one.leave(() => {
      joining = two.enter(() => said.push('joined'));
      said.push('taken away');
    });
    await joining;
    await two.leave(() => {});
    expect(said).toEqual(['taken away', 'joined']);
  });

  /** A process that joins, and meanwhile gives itself a signal. */
  const joining = (signal: NodeJS.Signals) => {
    const module = JSON.stringify(join(import.meta.dirname, 'folder-runs.ts'));
    const lines = `const { FolderRuns } = await import(${module});
      await new FolderRuns(${JSON.stringify(folder)}).enter(() => process.kill(process.pid, '${signal}'));`;
    const program = resolve('node_modules/.bin/node');
    return spawn(program, ['--input-type=module', '-e', lines], { stdio: ['ignore', 'ignore', 'inherit'] });
  };

  test('who is killed has left, also while it joins', async () => {
    const [, signal] = (await once(joining('SIGKILL'), 'exit')) as [number | null, string | null];
    expect(signal).toBe('SIGKILL');
    const runs = new FolderRuns(folder);
    await runs.enter(() => {});
    let isLast = false;
    await runs.leave(() => (isLast = true));
    expect(isLast).toBe(true);
  });

  test('who is stopped while it joins keeps nobody waiting for good, and is still there', async () => {
    const child = joining('SIGSTOP');
    await vi.waitFor(() => expect(readFileSync(`/proc/${child.pid}/stat`, 'latin1')).toMatch(/\) T /), 10_000);
    const runs = new FolderRuns(folder);
    await runs.enter(() => {});
    let isLast = false;
    await runs.leave(() => (isLast = true));
    expect(isLast).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});
