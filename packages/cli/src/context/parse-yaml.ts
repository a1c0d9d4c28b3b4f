import { needsYaml, readSimpleYaml } from './simple-yaml.ts';

/** Parses a YAML text. Throws if it is invalid. */
export async function parseYaml(text: string): Promise<unknown> {
  const value = readSimpleYaml(text);
  if (value !== needsYaml) return value;
  const { parse } = await import('yaml');
  return parse(text, { maxAliasCount: 100 }) as unknown;
}
