import { isObject } from '../is-object.ts';
import { parseYaml } from './parse-yaml.ts';
import { readPrivateFile } from './private-file.ts';
import type { ReeveFolder } from './reeve-folder.ts';

/** What a private file keeps under its one member, by name. */
export type Entries = Readonly<Record<string, unknown>>;

/** The text of a private file. One that cannot be read counts as missing. */
export function readText(folder: ReeveFolder, path: string): string | undefined {
  try {
    return readPrivateFile(folder, path);
  } catch {
    return undefined;
  }
}

/** The entries in such a text. A corrupt one has none. */
export async function entriesIn(text: string | undefined, member: string): Promise<Entries> {
  if (text === undefined) return {};
  try {
    const document = await parseYaml(text);
    const entries = isObject(document) ? document[member] : undefined;
    return isObject(entries) ? entries : {};
  } catch {
    return {};
  }
}
