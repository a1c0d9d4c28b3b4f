import type { Workspace } from './public-packages.ts';

/** Entries that serve the repository's own tests, and are left out of what is published. */
const unpublishedEntries: ReadonlySet<string> = new Set(['./testkit']);

/** Whether the code of a package that another needs is in what is built of that one. */
const builtIn: Readonly<Record<string, (needed: string) => boolean>> = {
  '@reeve/cli': () => true,
  // The declarations name types of Node.
  '@reeve/sdk': (needed) => needed !== '@types/node',
};

/**
 * The manifest as others get it. In the repository entries point to the sources, which Node does not run under
 * `node_modules`. Published ones point to what is built. npm does not rewrite them, so this is done before packing.
 */
export function publishedManifest({ manifest }: Workspace): object {
  const { devDependencies: _tools, dependencies = {}, optionalPeers, exports: entries, ...rest } = manifest;
  const isBuiltIn = builtIn[manifest.name] ?? (() => false);
  const installed = Object.entries(dependencies).filter(([name]) => !isBuiltIn(name));
  return {
    ...rest,
    publishConfig: { access: 'public' },
    ...(entries === undefined ? {} : { exports: publishedEntries(entries) }),
    dependencies: Object.fromEntries(installed),
    ...(optionalPeers === undefined ? {} : peers(optionalPeers)),
  };
}

/**
 * What somebody may have beside the package, as npm says it. In the repository npm would take it as a reason to install
 * what only tests need.
 */
function peers(optionalPeers: Readonly<Record<string, string>>): object {
  return { peerDependencies: optionalPeers, peerDependenciesMeta: mapped(optionalPeers, () => ({ optional: true })) };
}

function publishedEntries(entries: Readonly<Record<string, string>>): object {
  const published = Object.entries(entries).filter(([name]) => !unpublishedEntries.has(name));
  const all = mapped(Object.fromEntries(published), (target) => {
    const built = /^\.\/src\/(.+)\.ts$/.exec(target)?.[1];
    return built === undefined ? target : { types: `./dist/${built}.d.ts`, default: `./dist/${built}.js` };
  });
  return { ...all, './package.json': './package.json' };
}

function mapped<To>(from: Readonly<Record<string, string>>, to: (value: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, to(value)]));
}
