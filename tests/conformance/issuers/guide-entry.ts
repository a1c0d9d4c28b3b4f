import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** An entry of the file of workloads. */
export type Entry = Readonly<Record<string, unknown>>;

/** The entry that the guide shows in a section. Of the blocks of YAML there, it is the one that names an agent. */
export function guideEntry(section: string): Entry {
  const guide = readFileSync('docs/guides/workloads.md', 'utf8');
  const from = guide.indexOf(`\n## ${section}\n`);
  const end = guide.indexOf('\n## ', from + 1);
  const part = guide.slice(from, end === -1 ? undefined : end);
  for (const [, text = ''] of part.matchAll(/```yaml\n([\s\S]*?)```/g)) {
    const found: unknown = parse(text);
    if (Array.isArray(found) && found.length === 1) return found[0] as Entry;
  }
  throw new Error(`docs/guides/workloads.md shows no entry under "${section}"`);
}
