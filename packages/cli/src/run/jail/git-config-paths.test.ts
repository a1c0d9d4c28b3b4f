import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { namedByGit } from './git-config-paths.ts';

test.skipIf(process.platform === 'win32')(
  'a configuration that includes a pipe and a device keeps nobody waiting',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-git-'));
    try {
      const git = join(folder, '.git');
      mkdirSync(git);
      spawnSync('mkfifo', [join(folder, 'pipe')]);
      writeFileSync(join(folder, 'more'), '[core]\nhooksPath = hooks\n');
      writeFileSync(join(git, 'config'), '[include]\npath = ../pipe\npath = /dev/zero\npath = ../more\n');
      const { files, folders } = namedByGit(git, folder);
      expect(files).toEqual(expect.arrayContaining([join(folder, 'pipe'), join(folder, 'more')]));
      expect(folders).toEqual([join(folder, 'hooks')]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
