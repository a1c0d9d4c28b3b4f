import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { archiveExecutable, writeChecksums, writeInstaller } from '../../scripts/release/release-files.ts';
import { Installation } from './install-script.ts';
import type { Delivery } from './release-server.ts';
import { ReleaseServer } from './release-server.ts';

const scratch = mkdtempSync(join(tmpdir(), 'reeve-releases-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const [own, other] = process.arch === 'x64' ? ['x64', 'arm64'] : ['arm64', 'x64'];
const program = '#!/bin/sh\necho "reeve 9.8.7"\n';
const archiveName = `reeve-9.8.7-linux-${own}.tar.gz`;

/** The folder of a release whose executable is a small program. */
function release(name: string, { arch = own, content = program }: { arch?: string; content?: string | Buffer } = {}) {
  const [folder, built] = [join(scratch, name), join(scratch, `${name}-built`)];
  mkdirSync(folder);
  mkdirSync(built);
  writeFileSync(join(built, 'licenses.txt'), 'licences');
  writeFileSync(join(built, `reeve-linux-${arch}`), content);
  chmodSync(join(built, `reeve-linux-${arch}`), 0o755);
  archiveExecutable(join(built, `reeve-linux-${arch}`), '9.8.7', folder);
  writeChecksums(folder);
  return folder;
}

it('installs the executable with its manual and licences, says where it is and what comes next', async () => {
  await using server = await ReleaseServer.start(release('good'));
  using somebody = new Installation();
  const { code, stdout, stderr } = await somebody.run({ REEVE_RELEASE_URL: `${server.url}/` });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const folder = join(somebody.home, '.local/bin');
  expect(stdout).toContain(`reeve 9.8.7 is in ${somebody.executable}\n`);
  expect(stdout).toContain(`${folder} is not in the PATH`);
  expect(stdout).toContain(`"${somebody.executable} demo"`);
  expect(readFileSync(somebody.executable, 'utf8')).toBe(program);
  expect(server.asked).toEqual(['SHA256SUMS', archiveName]);
  expect(existsSync(join(somebody.home, '.local/share/man/man1/reeve.1'))).toBe(true);
  expect(readdirSync(join(somebody.home, '.local/share/doc/reeve')).toSorted()).toEqual(['LICENSE', 'licenses.txt']);
  // Nothing else is left behind.
  expect(readdirSync(somebody.home)).toEqual(['.local']);
  expect(readdirSync(folder)).toEqual(['reeve']);

  const again = await somebody.run({ REEVE_RELEASE_URL: server.url, PATH: `/usr/bin:/bin:${folder}` });
  expect(again.code).toBe(0);
  expect(again.stdout).toContain('"reeve demo"');
  expect(again.stdout).not.toContain('not in the PATH');
});

it('installs into another folder, from the place that the release names', async () => {
  const folder = release('elsewhere');
  await using server = await ReleaseServer.start(folder);
  using somebody = new Installation();
  writeInstaller(folder, 'https://releases.example.com/9.8.7');
  const script = join(folder, 'install.sh');
  const named = readFileSync(script, 'utf8');
  expect(named).toContain('\nrelease_url=https://releases.example.com/9.8.7\n');
  writeFileSync(script, named.replace('https://releases.example.com/9.8.7', server.url));
  const tools = join(somebody.home, 'my tools');
  const { code, stderr } = await somebody.run({ REEVE_INSTALL_DIR: tools }, script);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(join(tools, 'reeve'), 'utf8')).toBe(program);
  expect(() => writeInstaller(folder, 'http://releases.example.com; rm -rf ~')).toThrow('no address');
});

interface Wrong {
  readonly name: string;
  readonly says: RegExp;
  readonly folder: () => string;
  readonly delivery?: (name: string) => Delivery;
}

/** A program for another machine: what it is for stands at the 18th byte of its head. */
function foreign(): Buffer {
  const content = readFileSync(process.execPath).subarray(0, 1_000_000);
  content.writeUInt16LE(own === 'x64' ? 183 : 62, 18);
  return content;
}

const wrong: readonly Wrong[] = [
  {
    name: 'the archive was changed',
    says: /does not have the digest/,
    folder: () => {
      const folder = release('tampered');
      appendFileSync(join(folder, archiveName), 'x');
      return folder;
    },
  },
  {
    name: 'the archive is missing',
    says: /could not be downloaded as a whole/,
    folder: () => {
      const folder = release('missing');
      rmSync(join(folder, archiveName));
      return folder;
    },
  },
  {
    name: 'the digests are missing',
    says: /SHA256SUMS could not be downloaded/,
    folder: () => {
      const folder = release('no-sums');
      rmSync(join(folder, 'SHA256SUMS'));
      return folder;
    },
  },
  {
    name: 'the archive is cut short',
    says: /could not be downloaded as a whole/,
    folder: () => release('cut'),
    delivery: (name) => (name === archiveName ? 'cut' : 'whole'),
  },
  {
    name: 'the archive is cut short by who does not say its length',
    says: /does not have the digest/,
    folder: () => release('cut-without-length'),
    delivery: (name) => (name === archiveName ? 'cut without length' : 'whole'),
  },
  {
    name: 'the digests are cut short',
    says: /names no executable/,
    folder: () => release('cut-sums'),
    delivery: (name) => (name === 'SHA256SUMS' ? 'cut without length' : 'whole'),
  },
  {
    name: 'the release is for another architecture',
    says: /names no executable for linux-/,
    folder: () => release('other-arch', { arch: other }),
  },
  {
    name: 'the executable is for another machine than its name says',
    says: /does not run here/,
    folder: () => release('foreign', { content: foreign() }),
  },
  {
    name: 'the release has two executables',
    says: /names several executables/,
    folder: () => {
      const folder = release('two');
      const line = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
      appendFileSync(join(folder, 'SHA256SUMS'), line.replace('9.8.7', '9.8.8'));
      return folder;
    },
  },
  {
    name: 'the digests name a path',
    says: /names no executable/,
    folder: () => {
      const folder = release('path');
      const line = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
      writeFileSync(join(folder, 'SHA256SUMS'), line.replace('reeve-', '../reeve-'));
      return folder;
    },
  },
];

describe('installs nothing, and leaves what is installed as it is', () => {
  it.for(wrong)('if $name', async ({ says, folder, delivery }) => {
    await using server = await ReleaseServer.start(folder(), delivery);
    using somebody = new Installation();
    mkdirSync(join(somebody.executable, '..'), { recursive: true });
    writeFileSync(somebody.executable, 'before');
    const { code, stderr } = await somebody.run({ REEVE_RELEASE_URL: server.url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/reeve is not installed: /);
    expect(stderr).toMatch(says);
    expect(readFileSync(somebody.executable, 'utf8')).toBe('before');
    expect(readdirSync(somebody.home)).toEqual(['.local']);
    expect(readdirSync(join(somebody.home, '.local/bin'))).toEqual(['reeve']);
  });

  it.for([
    { url: '', says: /say where the files of a release are/ },
    { url: 'http://releases.example.com', says: /begins with https/ },
    { url: 'http://127.0.0.1:1@releases.example.com', says: /holds a name/ },
    { url: 'https://ada:pass-word-1@releases.example.com', says: /holds a name/ },
    { url: 'file:///tmp', says: /begins with https/ },
  ])('if the place is "$url"', async ({ url, says }) => {
    using somebody = new Installation();
    const { code, stderr } = await somebody.run({ REEVE_RELEASE_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain('pass-word-1');
    expect(readdirSync(somebody.home)).toEqual([]);
  });

  it('if the script itself is cut short', async () => {
    await using server = await ReleaseServer.start(release('cut-script'));
    using somebody = new Installation();
    const lines = readFileSync('install.sh', 'utf8').trimEnd().split('\n');
    const ends = lines.map((_, at) => at).filter((at) => at % 7 === 0);
    for (const end of [...ends, lines.length - 1]) {
      const file = join(scratch, 'cut.sh');
      writeFileSync(file, lines.slice(0, end).join('\n'));
      await somebody.run({ REEVE_RELEASE_URL: server.url }, file);
    }
    expect(server.asked).toEqual([]);
    expect(existsSync(somebody.executable)).toBe(false);
  });
});
