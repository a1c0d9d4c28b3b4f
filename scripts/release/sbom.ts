/** What npm has noted of a package in its lock file. */
interface Locked {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>;
}

/** What builds the dashboard. None of it is shipped. */
const notShipped: ReadonlySet<string> = new Set(['@tailwindcss/vite', '@vitejs/plugin-react', 'tailwindcss', 'vite']);

/**
 * A bill of materials of a release (CycloneDX 1.6): every package whose code is in it or is installed with it, from the
 * lock file, with licence, digest and what needs what. The dashboard's packages are inside its scripts, and Node is
 * inside the executables.
 */
export function billOfMaterials(lock: LockFile, release: { version: string; node: string; date: string; id: string }) {
  const found = new Map<string, readonly string[]>();
  const roots = Object.keys(lock.packages).filter((path) => /^packages\/[^/]+$/.test(path));
  for (const root of roots) visit(lock, root, found);
  const node = { type: 'platform', 'bom-ref': `pkg:generic/node@${release.node}`, name: 'node', version: release.node };
  const refOf = (path: string) => purlOf(lock, path);
  // npm may have put one package at several places.
  const places = Map.groupBy(found.keys(), refOf);
  const command = refOf('packages/cli');
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${release.id}`,
    version: 1,
    metadata: {
      timestamp: release.date,
      component: {
        type: 'application',
        'bom-ref': 'reeve',
        name: 'reeve',
        version: release.version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [
      ...[...places.values()].flatMap(([path]) => (path === undefined ? [] : [componentOf(lock, path)])),
      { ...node, purl: node['bom-ref'], licenses: [{ license: { id: 'MIT' } }] },
    ],
    dependencies: [
      { ref: 'reeve', dependsOn: [command, node['bom-ref']] },
      ...[...places].map(([ref, paths]) => {
        const needed = paths.flatMap((path) => found.get(path) ?? []);
        return { ref, dependsOn: [...new Set(needed.map(refOf))].sort() };
      }),
      { ref: node['bom-ref'], dependsOn: [] },
    ],
  };
}

function visit(lock: LockFile, path: string, found: Map<string, readonly string[]>): void {
  if (found.has(path)) return;
  found.set(path, []);
  const { dependencies, optionalDependencies, peerDependencies } = lock.packages[path] ?? {};
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const needed = names.filter((name) => !notShipped.has(name)).flatMap((name) => placeOf(lock, name, path) ?? []);
  // A peer that nothing here needs is a choice of whoever installs the package.
  const own = needed.filter((place) => place in lock.packages && !isOnlyForDevelopment(lock, place));
  found.set(path, own);
  for (const place of own) visit(lock, place, found);
}

function isOnlyForDevelopment(lock: LockFile, path: string): boolean {
  return 'dev' in (lock.packages[path] ?? {}) || 'devOptional' in (lock.packages[path] ?? {});
}

/** Where Node finds a package that is imported from a place: there, or in a folder above. */
function placeOf(lock: LockFile, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const locked = lock.packages[path];
    if (locked !== undefined) return locked.link === true ? locked.resolved : path;
    if (folder === '') return undefined;
  }
}

function nameOf(lock: LockFile, path: string): string {
  return lock.packages[path]?.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function purlOf(lock: LockFile, path: string): string {
  return `pkg:npm/${nameOf(lock, path).replace('@', '%40')}@${lock.packages[path]?.version ?? ''}`;
}

function componentOf(lock: LockFile, path: string) {
  const { version = '', license = '', integrity } = lock.packages[path] ?? {};
  const [group, name] = nameOf(lock, path).includes('/')
    ? nameOf(lock, path).split('/')
    : [undefined, nameOf(lock, path)];
  const digest = /^sha512-(.+)$/.exec(integrity ?? '')?.[1];
  const purl = purlOf(lock, path);
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group === undefined ? {} : { group }),
    name,
    version,
    purl,
    licenses: [/[ ()]/.test(license) ? { expression: license } : { license: { id: license } }],
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }),
  };
}
