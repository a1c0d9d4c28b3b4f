import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { releasedWire } from '../../scripts/compatibility/released.ts';

/** Holds the protos, after a change of one of them, against the last release by the rules of the repository. */
function afterChange(change: (text: string) => string): { status: number | null; said: string } {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-protos-'));
  try {
    cpSync('packages/contract/proto', join(folder, 'packages/contract/proto'), { recursive: true });
    cpSync('buf.yaml', join(folder, 'buf.yaml'));
    const file = join(folder, 'packages/contract/proto/reeve/v1/common.proto');
    const text = readFileSync(file, 'utf8');
    expect(change(text)).not.toBe(text);
    writeFileSync(file, change(text));
    const args = ['breaking', '--against', releasedWire().protos];
    const { status, stdout } = spawnSync(resolve('node_modules/.bin/buf'), args, { cwd: folder, encoding: 'utf8' });
    return { status, said: stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

it('fails if a field gets another number', () => {
  const { status, said } = afterChange((text) => text.replace(/string team_id = 2/, 'string team_id = 20'));
  expect(status).not.toBe(0);
  expect(said).toContain('team_id');
});

it('lets a message more pass', () => {
  expect(afterChange((text) => `${text}\nmessage Another {\n  string name = 1;\n}\n`)).toMatchObject({ status: 0 });
});
