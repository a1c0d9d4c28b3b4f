import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface Locked {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

/** Where a package finds another one: beside it, or beside a folder above it. */
function placesOf(path: string, name: string): readonly string[] {
  if (path === '') return [`node_modules/${name}`];
  const above = path.slice(0, Math.max(path.lastIndexOf('/node_modules/'), 0));
  return [`${path}/node_modules/${name}`, ...placesOf(above, name)];
}

// npm writes what it can install where it runs. Without the rest, `npm ci` refuses the file, and `npm install` on another
// system leaves programs out.
it.each(['package-lock.json', 'runtime/package-lock.json'])('%s names the packages for every system', (file) => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Readonly<Record<string, Locked>> };
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !placesOf(path, name).some((place) => place in packages))
      .map(([name, version]) => `${name}@${version}, of ${path}`),
  );
  expect(missing).toEqual([]);
});

it('says of each package for one system which one that is', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const ofOneSystem = Object.entries(packages).filter(([path]) => /-(?:darwin|win32|freebsd|android)-/.test(path));
  expect(ofOneSystem.length).toBeGreaterThan(30);
  for (const [path, { os = [], cpu = [] }] of ofOneSystem) {
    expect(os, path).toHaveLength(1);
    expect(cpu, path).toHaveLength(1);
    expect(path).toContain(os[0]);
  }
});
