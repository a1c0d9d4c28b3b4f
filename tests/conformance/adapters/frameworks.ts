import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { cacheFolder, whyOf } from '../tools.ts';

const run = promisify(execFile);

/** Pins the frameworks that the repository does not install. */
const pins = resolve('tests/conformance/adapters/package.json');
const folder = join(cacheFolder, 'adapters');
/** A resolver that finds no versions that fit would look for them forever. */
const longestMs = 900_000;

/** The frameworks, once they are installed, or why they are not. */
export type Frameworks = { readonly load: (name: string) => Promise<unknown> } | { readonly missing: string };

/** Installs the pinned versions, several hundred megabytes, unless they are there already. */
export async function findFrameworks(say: (line: string) => void): Promise<Frameworks> {
  const pinned = join(folder, 'package.json');
  try {
    if (!existsSync(pinned) || readFileSync(pinned, 'utf8') !== readFileSync(pins, 'utf8')) {
      say('installing the frameworks of agents, which takes a minute or two');
      mkdirSync(folder, { recursive: true });
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...wanted()], { timeout: longestMs });
      copyFileSync(pins, pinned);
    }
    const { resolve: find } = createRequire(pinned);
    return { load: (name) => import(pathToFileURL(esmOf(name) ?? find(name)).href) as Promise<unknown> };
  } catch (error) {
    return { missing: `the frameworks of agents could not be installed: ${whyOf(error)}` };
  }
}

/** The version of a package: the one installed here, or the one installed for the conformance run. */
export function versionOf(name: string): string {
  const place = ['node_modules', join(folder, 'node_modules')].find((each) =>
    existsSync(join(each, name, 'package.json')),
  );
  if (place === undefined) return 'unknown';
  return (JSON.parse(readFileSync(join(place, name, 'package.json'), 'utf8')) as { version: string }).version;
}

function wanted(): string[] {
  const { dependencies } = JSON.parse(readFileSync(pins, 'utf8')) as { dependencies: Record<string, string> };
  return Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
}

/** The module for `import`. A resolver by `require` would give the one for CommonJS, or none. */
function esmOf(name: string): string | undefined {
  const at = join(folder, 'node_modules', name);
  const { exports, main } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
    exports?: unknown;
    main?: string;
  };
  const found = importOf(exports) ?? main;
  return found === undefined ? undefined : join(at, found);
}

function importOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return undefined;
  const by = exports as Readonly<Record<string, unknown>>;
  return importOf(by['.'] ?? by['import'] ?? by['default']);
}
