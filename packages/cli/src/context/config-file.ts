import { UsageError } from '../cli-error.ts';
import { isObject } from '../is-object.ts';
import { parseYaml } from './parse-yaml.ts';
import { changePrivateFile, readPrivateFile, reasonOf } from './private-file.ts';
import type { ReeveFolder } from './reeve-folder.ts';
import { writeYaml } from './write-yaml.ts';

export interface StoredContext {
  readonly apiUrl: string | undefined;
  readonly apiKey: string | undefined;
}

/** `~/.reeve/config.yaml`. */
export interface Config {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, StoredContext>;
}

export async function readConfig(folder: ReeveFolder): Promise<Config> {
  return configOf(await readDocument(folder), folder);
}

export type ConfigDocument = { current_context?: string; contexts: Record<string, Record<string, unknown>> };

/** Changes the file, and keeps members that this command does not know. */
export async function changeConfig(
  folder: ReeveFolder,
  change: (document: ConfigDocument, config: Config) => void,
): Promise<void> {
  await changePrivateFile(folder, folder.config, async () => {
    const document = await readDocument(folder);
    const config = configOf(document, folder);
    const edited = {
      ...document,
      contexts: Object.fromEntries(Object.entries(document['contexts'] ?? {})),
    } as ConfigDocument;
    change(edited, config);
    return writeYaml(edited);
  });
}

async function readDocument(folder: ReeveFolder): Promise<Readonly<Record<string, unknown>>> {
  let text: string | undefined;
  try {
    text = readPrivateFile(folder, folder.config);
  } catch (error) {
    throw new UsageError(`cannot read ${folder.config}: ${reasonOf(error, folder)}`, { cause: error });
  }
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = await parseYaml(text);
  } catch (error) {
    const [what = ''] = error instanceof Error ? error.message.split('\n') : [];
    throw new UsageError(`${folder.config} is not YAML: ${what.replace(/:$/, '')}`, { cause: error });
  }
  if (value === null || value === undefined) return {};
  if (!isObject(value)) throw wrong(folder, 'must be a map with "current_context" and "contexts"');
  return value;
}

function configOf(document: Readonly<Record<string, unknown>>, folder: ReeveFolder): Config {
  const contexts = document['contexts'] ?? {};
  if (!isObject(contexts)) throw wrong(folder, '"contexts" must be a map from names to contexts');
  return {
    currentContext: textIn(document, 'current_context', 'current_context', folder),
    contexts: new Map(Object.entries(contexts).map(([name, context]) => [name, contextOf(name, context, folder)])),
  };
}

function contextOf(name: string, context: unknown, folder: ReeveFolder): StoredContext {
  if (!isObject(context)) throw wrong(folder, `"contexts.${name}" must be a map with "api_url"`);
  return {
    apiUrl: textIn(context, 'api_url', `contexts.${name}.api_url`, folder),
    apiKey: textIn(context, 'api_key', `contexts.${name}.api_key`, folder),
  };
}

function textIn(
  map: Readonly<Record<string, unknown>>,
  member: string,
  place: string,
  folder: ReeveFolder,
): string | undefined {
  const value = map[member] ?? undefined;
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value.trim();
  throw wrong(folder, `"${place}" must be text`);
}

function wrong(folder: ReeveFolder, what: string): UsageError {
  return new UsageError(`${folder.config}: ${what}`);
}
