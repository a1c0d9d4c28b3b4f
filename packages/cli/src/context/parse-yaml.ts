import { needsYaml, readSimpleYaml } from './simple-yaml.ts';

/** A YAML text as a value; throws where it is none. */
export async function parseYaml(text: string): Promise<unknown> {
  const value = readSimpleYaml(text);
  if (value !== needsYaml) return value;
  const { parse } = await import('yaml');
  return parse(text, { maxAliasCount: 100 }) as unknown;
}
