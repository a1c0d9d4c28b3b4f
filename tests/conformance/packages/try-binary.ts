import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, openSync, readSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { StartedGateway } from '../../packages/started-gateway.ts';
import type { Trial } from './trial.ts';

const run = promisify(execFile);

/** The numbers that ELF has for the machines. */
const machines: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/** Builds the executables and runs the one for this machine where there is no Node. */
export async function tryBinary(trial: Trial, version: string): Promise<void> {
  const { stdout } = await run(process.execPath, [resolve('scripts/build-binary.ts')]);
  const binaries = stdout.split('\n').filter((line) => line.includes('reeve-linux-'));
  for (const binary of binaries) {
    const arch = binary.replace(/.*-/, '');
    await trial(`the executable for ${arch} is one for it`, () =>
      Promise.resolve(assert.equal(machineOf(binary), machines[arch])),
    );
    if (arch !== process.arch) continue;
    await trial(`the executable for ${arch} serves without Node, with its dashboard and all threads`, async () => {
      await using gateway = await StartedGateway.start(binary, {});
      await gateway.exercise(version);
      assert.equal(await gateway.stop(), 0);
    });
    await trial(`the executable for ${arch} has its packs inside`, () => hasPacks(binary));
    if (process.getuid?.() === 0) {
      await trial(`the executable for ${arch} runs where nothing is but the C library`, () => runAlone(binary));
    }
  }
}

function machineOf(binary: string): number {
  const header = Buffer.alloc(20);
  readSync(openSync(binary, 'r'), header);
  return header.readUInt16LE(18);
}

async function hasPacks(binary: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-binary-'));
  try {
    const options = { cwd: folder, env: { HOME: folder } };
    await run(binary, ['policy', 'init', 'policies', '--pack', 'mcp'], options);
    assert.match((await run(binary, ['policy', 'test', 'policies'], options)).stdout, /cases passed/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a folder as the root, with the executable and the libraries that it names. */
async function runAlone(binary: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'reeve-root-'));
  try {
    const libraries = execFileSync('ldd', [binary], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g);
    for (const [, path = ''] of libraries) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      cpSync(realpathSync(path), join(root, path));
    }
    cpSync(binary, join(root, 'reeve'));
    const { stdout } = await run('chroot', [root, '/reeve', 'policy', 'init', '/policies'], {
      env: { HOME: '/', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    assert.match(stdout, /Wrote/);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
