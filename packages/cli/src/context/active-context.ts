import { UsageError } from '../cli-error.ts';
import type { GlobalValues } from '../command-line/command.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import { defaultApiUrl, isSameUrl, parseApiUrl } from './api-url.ts';
import type { Config } from './config-file.ts';
import { readConfig } from './config-file.ts';
import type { ReeveFolder } from './reeve-folder.ts';
import { reeveFolder } from './reeve-folder.ts';
import type { Session } from './sessions.ts';
import { readSession } from './sessions.ts';

/** Where a command connects to, and as whom. */
export interface ActiveContext {
  readonly folder: ReeveFolder;
  /** The name of the context, or the URL without one. Sessions are stored under it, and people see it. */
  readonly name: string;
  readonly apiUrl: string;
  /** From flag, variable or context, in this order. */
  readonly apiKey: string | undefined;
  /** Set only if it was made for this URL. */
  readonly session: Session | undefined;
}

/** Resolves the active context. An unknown context is no error as long as nothing is sent. */
export async function activeContext(
  shell: Shell,
  globals: GlobalValues,
): Promise<ActiveContext & { isKnown: boolean }> {
  const folder = reeveFolder(shell);
  const config = await readConfig(folder);
  const contextName = globals.context ?? variable(shell, 'REEVE_CONTEXT') ?? config.currentContext;
  const stored = contextName === undefined ? undefined : config.contexts.get(contextName);
  const kept = contextName === undefined ? undefined : await readSession(folder, contextName);
  const explicit = explicitUrl(shell, globals);
  const apiUrl = explicit ?? storedUrl(contextName, config, kept) ?? defaultApiUrl;
  const session = contextName === undefined ? await readSession(folder, apiUrl) : kept;
  return {
    folder,
    name: contextName ?? apiUrl,
    apiUrl,
    apiKey: globals.apiKey ?? variable(shell, 'REEVE_API_KEY') ?? stored?.apiKey,
    session: session !== undefined && isSameUrl(session.apiUrl, apiUrl) ? session : undefined,
    isKnown: contextName === undefined || stored !== undefined || kept !== undefined || explicit !== undefined,
  };
}

/** The same for commands that call the gateway. A misspelt context must not send anything elsewhere. */
export async function callableContext(shell: Shell, globals: GlobalValues): Promise<ActiveContext> {
  const context = await activeContext(shell, globals);
  if (context.isKnown) return context;
  const { didYouMean } = await import('../command-line/suggest.ts');
  const known = [...(await readConfig(context.folder)).contexts.keys()];
  const list = known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`;
  const add = `"reeve context set ${context.name} --api-url URL" makes it.`;
  throw new UsageError(`there is no context "${context.name}".${didYouMean(context.name, known)} ${list} ${add}`);
}

function explicitUrl(shell: Shell, globals: GlobalValues): string | undefined {
  if (globals.apiUrl !== undefined) return parseApiUrl(globals.apiUrl, '--api-url');
  const given = variable(shell, 'REEVE_API_URL');
  return given === undefined ? undefined : parseApiUrl(given, 'REEVE_API_URL');
}

function storedUrl(name: string | undefined, config: Config, session: Session | undefined): string | undefined {
  const url = name === undefined ? undefined : config.contexts.get(name)?.apiUrl;
  // A login to a context outside the file stored its URL with the session.
  return url === undefined ? session?.apiUrl : parseApiUrl(url, `api_url of the context "${name}"`);
}
