import { readFileSync, statSync } from 'node:fs';
import { UsageError } from '../cli-error.ts';
import { parseYaml } from '../context/parse-yaml.ts';
import { codeOf } from '../context/private-file.ts';

const mostBytes = 16 * 1024 * 1024;

/** The content of a YAML or JSON file. Undefined if there is none. */
export async function readYamlFile(path: string): Promise<unknown> {
  let text: string;
  try {
    if (statSync(path).size > mostBytes) throw new UsageError(`${path} is too long`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new UsageError(`cannot read ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
  try {
    return (await parseYaml(text)) ?? {};
  } catch (error) {
    const [what = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw new UsageError(`${path} is not YAML: ${what.replace(/:$/, '')}`, { cause: error });
  }
}
