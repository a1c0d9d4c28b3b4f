import type { Workspace } from './public-packages.ts';

/** Entries that serve the repository's own tests, and are left out of what is published. */
const unpublishedEntries: ReadonlySet<string> = new Set(['./testkit']);

/** Where the parts of private packages stand that a published one brings along. */
const broughtAlong: Readonly<Record<string, string>> = { '@reeve/dashboard': './dashboard/index.js' };

/** Packages whose code is in what is built. */
const builtIn: ReadonlySet<string> = new Set(['@grpc/grpc-js']);

/**
 * The manifest as others get it. In the repository entries point to the sources, which Node does not run under
 * `node_modules`. Published ones point to what is built. npm does not rewrite them, so this is done before packing.
 */
export function publishedManifest({ manifest }: Workspace, privateNames: ReadonlySet<string>): object {
  const { devDependencies: _tools, dependencies = {}, exports: entries, imports, ...rest } = manifest;
  const installed = Object.entries(dependencies).filter(([name]) => !privateNames.has(name) && !builtIn.has(name));
  return {
    ...rest,
    publishConfig: { access: 'public' },
    ...(entries === undefined ? {} : { exports: publishedEntries(entries) }),
    ...(imports === undefined ? {} : { imports: mapped(imports, (target) => broughtAlong[target] ?? target) }),
    dependencies: Object.fromEntries(installed),
  };
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
