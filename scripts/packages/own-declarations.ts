import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { publishedDeclarations } from './published-code.ts';
import type { Workspace } from './public-packages.ts';
import { workspaces } from './public-packages.ts';

/** Where the declarations of other packages of this repository stand that a package brings along. */
const along = 'reeve';

/**
 * The declarations that somebody meets who imports a package, by the names of their files in its `dist`. What they name of
 * other packages of this repository comes along, so that these need not be installed, with all that they need.
 */
export function ownDeclarations(one: Workspace, compiled: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const visit = (workspace: Workspace, file: string): string => {
    const name = workspace === one ? file : join(along, workspace.folder, file);
    if (texts.has(name)) return name;
    texts.set(name, '');
    const path = join(compiled, workspace.folder, 'src', file);
    const text = readFileSync(path, 'utf8').replaceAll(
      /(from |import\()(['"])([^'"]+)\2/g,
      (whole, before: string, quote: string, specifier: string) => {
        if (specifier.startsWith('node:')) return whole;
        const [owner, target] = specifier.startsWith('.')
          ? [workspace, join(dirname(file), specifier)]
          : entryOf(specifier, path);
        return `${before}${quote}${pathFrom(name, visit(owner, declarationsOf(target)))}${quote}`;
      },
    );
    texts.set(name, publishedDeclarations(text));
    return name;
  };
  for (const target of Object.values(one.manifest.exports ?? {})) visit(one, declarationsOf(inSources(target)));
  return texts;
}

/** The package of this repository that a module is of, and the file behind it. */
function entryOf(specifier: string, importer: string): [owner: Workspace, file: string] {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';
  const owner = workspaces().find(({ manifest }) => manifest.name === name);
  const target = owner?.manifest.exports?.[`.${specifier.slice(name.length)}`];
  if (owner !== undefined && target !== undefined) return [owner, inSources(target)];
  throw new Error(
    `${importer} names ${specifier}, which would have to be installed: mark as @internal what nobody outside uses`,
  );
}

function inSources(target: string): string {
  return target.replace(/^\.\/src\//, '');
}

function declarationsOf(file: string): string {
  return file.replace(/(?<!\.d)\.ts$/, '.d.ts');
}

function pathFrom(name: string, other: string): string {
  const path = relative(dirname(name), other.replace(/\.d\.ts$/, '.ts')).replaceAll(sep, '/');
  return path.startsWith('.') ? path : `./${path}`;
}
