import { readFileSync } from 'node:fs';
import { describeSettings } from '@reeve/gateway';
import { parse } from 'yaml';

export function readYaml(path: string): unknown {
  return parse(readFileSync(path, 'utf8'), { merge: true });
}

const described = describeSettings();

/** The names of all settings, as variables and as keys of a settings file. */
export const variables = new Set(described.map(({ variable }) => variable));
export const settingKeys = new Set(described.map(({ key }) => key));

/** The variables of a text that would stop the start of a gateway, because it does not know them. */
export function unknownVariables(text: string): string[] {
  const named = [...text.matchAll(/\bSVC_[A-Z0-9_]+\b/g)].map(([name]) => name);
  return named.filter((name) => !variables.has(name));
}
