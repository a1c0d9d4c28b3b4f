import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file beside a bundle. */
export const licencesFile = 'licenses.txt';

interface Described {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/**
 * The licences of all packages whose code is in a bundle, from the files that it was made of. Nearly every licence asks
 * for this: it must come with each copy.
 */
export function licencesOf(modules: Iterable<string>): string {
  const folders = new Set([...modules].flatMap((module) => folderOf(module) ?? []));
  const texts = new Map([...folders].map((folder) => licenceOf(folder)));
  return [...texts]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([title, text]) => `${title}\n${'='.repeat(title.length)}\n\n${text.trim()}\n`)
    .join('\n\n');
}

/** The folder of the package that a module belongs to. Bundlers put marks before and after the path. */
function folderOf(module: string): string | undefined {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1];
}

function licenceOf(folder: string): [title: string, text: string] {
  const {
    name,
    version,
    license = 'unknown',
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Described;
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)\b/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  const said = 'The package brings no text of its licence.';
  return [`${name} ${version} (${license})`, texts.length === 0 ? said : texts.join('\n\n')];
}

/** The same from a file that another bundle has left. */
export function licencesIn(folder: string): string {
  const file = join(folder, licencesFile);
  if (!existsSync(file)) throw new Error(`${file} is missing: what is in the bundle beside it?`);
  return readFileSync(file, 'utf8');
}
