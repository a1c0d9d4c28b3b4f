import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { releaseNotes, withRelease } from '../../scripts/release/changelog.ts';
import type { LockFile } from '../../scripts/release/sbom.ts';
import { billOfMaterials } from '../../scripts/release/sbom.ts';
import {
  lockWithVersion,
  manifestWithVersion,
  requireVersion,
  textWithVersion,
} from '../../scripts/release/set-version.ts';

const changelog =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-01\n\n- The first.\n';
const read = (path: string) => readFileSync(path, 'utf8');

it('moves what was unreleased under the version, and takes the notes from there', () => {
  const released = withRelease(changelog, '0.2.0', '2026-11-16');
  expect(released).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-11-16\n\n### Added\n\n- A thing.\n\n## [0.1.0]');
  expect(releaseNotes(released, '0.2.0')).toBe('# Reeve 0.2.0\n\n### Added\n\n- A thing.\n');
  expect(releaseNotes(released, '0.1.0')).toBe('# Reeve 0.1.0\n\n- The first.\n');
});

it('refuses a release that says nothing, and one that has been', () => {
  expect(() => withRelease(changelog, '0.1.0', '')).toThrow('release 0.1.0 already');
  const released = withRelease(changelog, '0.2.0', '2026-11-16');
  expect(() => withRelease(released, '0.3.0', '')).toThrow('nothing under "## [Unreleased]"');
});

it('goes only forward', () => {
  expect(requireVersion('0.2.0', '0.1.9')).toBe('0.2.0');
  expect(requireVersion('0.10.0', '0.9.0')).toBe('0.10.0');
  expect(() => requireVersion('0.1.9', '0.2.0')).toThrow('comes before');
  for (const wrong of [undefined, '', 'v1.0.0', '1.0', '1.0.0; rm']) {
    expect(() => requireVersion(wrong, '0.1.0')).toThrow('say which version');
  }
});

it('sets the version of every package and of what they need of each other, and of nothing else', () => {
  const text = read('packages/cli/package.json');
  const manifest = JSON.parse(manifestWithVersion(text, '9.8.7')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const { dependencies } = JSON.parse(text) as typeof manifest;
  const own = Object.fromEntries(
    Object.entries(dependencies).map(([name, wanted]) => [name, name.startsWith('@reeve/') ? '9.8.7' : wanted]),
  );
  expect(manifest).toMatchObject({ version: '9.8.7', dependencies: own });
  expect(Object.values(own)).toContain('9.8.7');
  const before = JSON.parse(read('package-lock.json')) as LockFile;
  const after = JSON.parse(lockWithVersion(read('package-lock.json'), '9.8.7')) as LockFile;
  const changed = Object.keys(after.packages).filter(
    (path) => after.packages[path]?.version !== before.packages[path]?.version,
  );
  expect(changed.toSorted()).toEqual(
    ['', ...Object.keys(before.packages).filter((path) => /^packages\/[^/]+$/.test(path))].toSorted(),
  );
});

it('lists what is shipped, each once, with licence and digest, and nothing that only builds or tests', () => {
  const lock = JSON.parse(read('package-lock.json')) as LockFile;
  const { components, dependencies } = billOfMaterials(lock, {
    version: '0.2.0',
    node: '24.0.0',
    date: '2026-11-16T00:00:00.000Z',
    id: '5f4c9f9e-0000-4000-8000-000000000000',
  });
  const refs = components.map((component) => component['bom-ref']);
  expect(new Set(refs).size).toBe(refs.length);
  const names = refs.map((ref) => ref.replace(/@[^@]*$/, ''));
  // The command, what it needs, what is in the scripts of the dashboard, and what is in the executable.
  for (const name of ['npm/%40reeve/cli', 'npm/fastify', 'npm/react', 'generic/node'])
    expect(names).toContain(`pkg:${name}`);
  for (const name of ['vitest', 'typescript', 'vite', '%40grpc/grpc-js'])
    expect(names).not.toContain(`pkg:npm/${name}`);
  const others = components.filter((component) => component.type === 'library' && !component.purl.includes('%40reeve'));
  expect(others.filter((component) => !('hashes' in component))).toEqual([]);
  const known = new Set(['reeve', ...refs]);
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !known.has(ref))).toEqual([]);
  expect(dependencies.map(({ ref }) => ref).toSorted()).toEqual([...known].toSorted());
});

it('gives the chart and the Python client the version, too', () => {
  const chart = 'apiVersion: v2\nname: reeve\nversion: 0.1.0\nappVersion: "0.1.0"\n';
  expect(textWithVersion('deploy/helm/reeve/Chart.yaml', chart, '0.2.0')).toBe(
    'apiVersion: v2\nname: reeve\nversion: 0.2.0\nappVersion: "0.2.0"\n',
  );
  const client = 'clients/python/src/reeve/_version.py';
  expect(textWithVersion(client, '__version__ = "0.1.0"\n', '0.2.0')).toBe('__version__ = "0.2.0"\n');
  expect(() => textWithVersion(client, 'VERSION = "0.1.0"\n', '0.2.0')).toThrow('does not name the version');
});
