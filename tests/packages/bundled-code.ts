import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The packages of others whose code is in the files of a folder, as its source maps say. */
export function packagesInMaps(folder: string): readonly string[] {
  const maps = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js.map'));
  const sources = maps.flatMap(
    (file) => (JSON.parse(readFileSync(join(folder, file), 'utf8')) as { sources: readonly string[] }).sources,
  );
  const names = sources.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  return [...new Set(names)].filter((name) => name !== undefined);
}

/** All texts of licences in a folder, as one. */
export function licencesUnder(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('licenses.txt'),
  );
  return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
}

/** What a list of licences has under a package in a version; undefined if it is not in it. */
export function licenceText(list: string, name: string, version: string): string | undefined {
  const title = `${name} ${version} (`;
  const at = list.startsWith(title) ? 0 : list.indexOf(`\n${title}`);
  if (at === -1) return undefined;
  const [, text = ''] = list.slice(at).split(/^=+$/m);
  return text;
}
