import type { ServersFile } from '@reeve/proxy/mcp';
import { readServersFile, ServersFileError } from '@reeve/proxy/mcp';
import { UsageError } from '../cli-error.ts';
import type { Shell } from '../shell.ts';
import { readYamlFile } from './read-file.ts';

/**
 * What a server of a file gets of the environment of this process, besides what the file gives it. The rest may hold
 * secrets of other servers.
 */
const inherited = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_[A-Z]+|TZ|TMPDIR|TEMP|TMP|XDG_[A-Z_]+)$/;

/** The servers of a file, and who may come in. */
export async function serversFileAt(shell: Pick<Shell, 'env'>, path: string): Promise<ServersFile> {
  const content = await readYamlFile(path);
  if (content === undefined) throw new UsageError(`there is no file ${path}`);
  const environment = Object.entries(shell.env).filter(([name]) => inherited.test(name));
  try {
    return readServersFile(content, { variables: shell.env, inherited: Object.fromEntries(environment) });
  } catch (error) {
    if (error instanceof ServersFileError) throw new UsageError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}
