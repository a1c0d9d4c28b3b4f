import { readFileSync } from 'node:fs';
import type { Upstream } from '@reeve/proxy/llm';
import { ModelConfigError, modelConfigOf } from '@reeve/proxy/llm';
import { UsageError } from '../cli-error.ts';
import { parseYaml } from '../context/parse-yaml.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

const largestFile = 1024 * 1024;

/** Reads the file with the upstreams. Anything wrong with it is a usage error of one line, without any secret. */
export async function readModelConfig(file: string, shell: Pick<Shell, 'env'>): Promise<readonly Upstream[]> {
  const document = await parsed(file, textOf(file));
  try {
    return modelConfigOf(document, (name) => variable(shell, name));
  } catch (error) {
    if (!(error instanceof ModelConfigError)) throw error;
    throw new UsageError(`${file}: ${error.message}`, { cause: error });
  }
}

function textOf(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : 'it cannot be read';
    throw new UsageError(`--config ${file}: ${why}`, { cause: error });
  }
  if (text.length > largestFile) throw new UsageError(`--config ${file}: larger than ${largestFile} bytes`);
  return text;
}

async function parsed(file: string, text: string): Promise<unknown> {
  try {
    return await parseYaml(text);
  } catch (error) {
    const [what = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw new UsageError(`${file} is not YAML: ${what.replace(/:$/, '')}`, { cause: error });
  }
}
