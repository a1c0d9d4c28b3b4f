import { equal, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianProgram } from './debian-package.ts';
import type { Trials } from './trials.ts';

/** Has systemd itself read the unit, and say how much it lets a broken gateway do. */
export async function tryUnit(trials: Trials): Promise<void> {
  const { trial, missing } = trials;
  if (spawnSync('systemd-analyze', ['--version']).error !== undefined)
    return missing('systemd: install it, and run again');
  debianProgram('systemd-analyze', trials);
  const folder = mkdtempSync(join(tmpdir(), 'reeve-unit-'));
  try {
    const unit = join(folder, 'reeve.service');
    // The program is where nobody has installed it here.
    writeFileSync(
      unit,
      readFileSync('deploy/systemd/reeve.service', 'utf8').replace('/usr/local/bin/reeve', '/bin/true'),
    );
    await trial('systemd-analyze verify finds nothing', () => {
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
      equal(
        stderr
          .split('\n')
          .filter((line) => line.includes('reeve.service'))
          .join('\n'),
        '',
      );
      equal(status, 0, stderr);
    });
    await trial('its exposure is at most 1.5 of 10', () => {
      const args = ['security', '--offline=true', '--threshold=15', unit];
      const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
      equal(status, 0, stdout.split('\n').at(-2) ?? '');
      ok(stdout.includes('Overall exposure level'));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
