import type { ServerAccess, ServerSpec, ToolHashes } from '@reeve/proxy/mcp';
import {
  bothOf,
  governedMethods,
  runMcp,
  ServersFileError,
  toolsGoverned,
  toolsLockedOf,
  urlOf,
  withoutOurs,
} from '@reeve/proxy/mcp';
import { identityOptions } from '../agent-identity/identity-options.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, text } from '../command-line/values.ts';
import { ActingAgent } from '../mcp/acting-agent.ts';
import { governing, governOptions } from '../mcp/govern-options.ts';
import { currentTools, followLock, readLock, writeLock } from '../mcp/lock-file.ts';
import { ownAccess, ownSubject } from '../mcp/server-access.ts';
import { serversFileAt } from '../mcp/servers.ts';
import { stopSignal } from '../mcp/stop-signal.ts';
import type { Shell } from '../shell.ts';

const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const mcpRunCommand = defineCommand({
  details: [
    'Speaks MCP on standard input and output. Calls of tools are checked by the gateway, and what --govern names; everything else passes to the server and back. Put it before the command of a server in the configuration of an MCP client.',
    'The server gets the environment of this command without what begins with REEVE_.',
    'With REEVE_SUBJECT_TOKEN_FILE the agent acts for a user: the file holds their JWT and is read for each call. A file that is named and missing, or empty, denies every call.',
    'A server of a file may have auth: {type: client_credentials, token_exchange, enterprise or person}. The token of the person for token_exchange is in the file that REEVE_SUBJECT_TOKEN_FILE names, the ID token for enterprise in that of REEVE_ID_TOKEN_FILE; both are read for each call. The first goes to the gateway, too, if the gateway takes tokens of its issuer. For person, run "reeve mcp login" first.',
  ],
  args: {},
  rest: { placeholder: '-- COMMAND ARGS…', summary: 'The command of the MCP server.' },
  options: {
    server: text('NAME', 'The name of the server, which policies see as the source of its tools.'),
    url: text('URL', 'The server, if it speaks Streamable HTTP.'),
    config: text('FILE', 'A file with servers, one of which is NAME.', { completes: 'file' }),
    ...identityOptions,
    run: text('ID', 'The run that calls belong to. Default: one for each process.'),
    lock: text('FILE', 'Deny tools that are not defined as in this file.', { completes: 'file' }),
    writeLock: flag('Write the file of --lock from the tools as they are now.'),
    govern: text(
      'LIST',
      'What is checked besides calls of tools: all, or of resources/read, resources/subscribe, prompts/get, sampling/createMessage and elicitation/create, with commas between them. Adds to what the file says.',
    ),
    ...governOptions,
  },
  examples: [
    ['reeve mcp run --server files -- npx -y @modelcontextprotocol/server-filesystem .', 'in front of a command'],
    ['reeve mcp run --server tickets --url https://mcp.example.com/mcp', 'in front of a server over HTTP'],
    ['reeve mcp run --server files --lock mcp.lock --write-lock -- my-server', 'the tools as they are now, locked'],
  ],
  run: async ({ options, rest, globals }, shell) => {
    const { server: name, run: runId } = options;
    if (name === undefined || !nameForm.test(name)) {
      throw new UsageError('--server must be a name of letters, digits, ".", "_" and "-"');
    }
    if (runId !== undefined && (runId === '' || runId.length > 128)) {
      throw new UsageError('--run must have 1 to 128 characters');
    }
    const how = governing(shell, options);
    const spec = withMethods(await specOf(shell, name, options, rest), options.govern);
    const access = ownAccess(shell, name, spec);
    const lock = await lockOf(name, spec, access, options, how.warn);
    // A client that no longer reads has gone away. What it called is ended in order, and not by the end of this process.
    shell.stdout.removeAllListeners('error');
    using stop = stopSignal();
    const misused = new AbortController();
    const agent = new ActingAgent({ shell, globals, flags: options, about: { framework: 'mcp' } });
    let wrong: UsageError | undefined;
    agent.find().catch((error: unknown) => {
      if (!(error instanceof UsageError)) return how.warn(messageOf(error));
      wrong = error;
      misused.abort('SIGTERM');
    });
    const code = await runMcp({
      ...how,
      name,
      spec,
      access,
      lock,
      runId,
      agent: agent.find,
      subjectToken: ownSubject(shell, spec, agent.takesSubjectsOf),
      input: shell.stdin,
      output: shell.stdout,
      stop: AbortSignal.any([stop, misused.signal]),
    });
    await agent.close();
    if (wrong !== undefined) throw wrong;
    return code;
  },
});

interface Where {
  readonly url: string | undefined;
  readonly config: string | undefined;
}

/** The server with what the flag names besides. */
function withMethods(spec: ServerSpec, list: string | undefined): ServerSpec {
  if (list === undefined) return spec;
  try {
    const methods = governedMethods(list.split(',').map((name) => name.trim()));
    return { ...spec, methods: bothOf(spec.methods, methods) };
  } catch (error) {
    throw new UsageError(`--govern: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function specOf(
  shell: Shell,
  name: string,
  { url, config }: Where,
  rest: readonly string[],
): Promise<ServerSpec> {
  const [command, ...args] = rest;
  const given = [url, config, command].filter((way) => way !== undefined);
  if (given.length !== 1) throw new UsageError('give a command after "--", or --url, or --config');
  if (config !== undefined) {
    const spec = (await serversFileAt(shell, config)).servers.get(name);
    if (spec === undefined) throw new UsageError(`${config} has no server ${name}`);
    return spec;
  }
  if (command !== undefined) return { command, args, env: withoutOurs(shell.env), ...toolsGoverned };
  try {
    return { url: urlOf(url ?? '', '--url'), headers: {}, ...toolsGoverned };
  } catch (error) {
    throw error instanceof ServersFileError ? new UsageError(error.message) : error;
  }
}

interface Locking {
  readonly lock: string | undefined;
  readonly writeLock: boolean;
  readonly config: string | undefined;
}

async function lockOf(
  name: string,
  spec: ServerSpec,
  access: ServerAccess,
  { lock: given, writeLock: isWritten, config }: Locking,
  warn: (line: string) => void,
): Promise<() => ToolHashes | undefined> {
  const path = given ?? (config === undefined ? undefined : `${config}.lock`);
  if (isWritten && path === undefined) throw new UsageError('--write-lock needs --lock FILE');
  if (path === undefined) return () => undefined;
  if (isWritten) {
    writeLock(path, { ...(await readLock(path)), [name]: await currentTools(name, spec, access, warn) });
  }
  const lock = await followLock(path, warn);
  if (lock() === undefined && given !== undefined) {
    throw new UsageError(`there is no file ${given}; --write-lock writes it`);
  }
  return () => toolsLockedOf(lock(), name);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof CliError ? message : `the agent is not known yet: ${message}`;
}
