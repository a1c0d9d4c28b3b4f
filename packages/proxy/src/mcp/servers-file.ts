import type { ServerAuth } from './auth/server-auth.ts';
import { readAuth } from './auth/server-auth.ts';
import type { OAuthSettings } from './front/oauth-settings.ts';
import { readOAuth } from './front/oauth-settings.ts';
import { readFixedRun } from '../front/fixed-run.ts';
import { costsOf, freeOfCharge } from './govern/costs.ts';
import type { GovernedMethods } from './govern/governed-methods.ts';
import { governedMethods, toolsAlone } from './govern/governed-methods.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { isObject } from './protocol/written-json.ts';
import type { ServerSpec } from './server-spec.ts';
import { isSecureUrl } from '@reeve/contract/host-name';

/** The file is not as it should be. The message is one line. */
export class ServersFileError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServersFileOptions {
  /** What `${NAME}` stands for. */
  readonly variables: Environment;
  /** The environment that every server starts from. */
  readonly inherited: Environment;
}

const governingKeys = ['costs', 'govern', 'run'];
const commandKeys = ['command', 'args', 'env', 'cwd', ...governingKeys];
const urlKeys = ['url', 'headers', 'auth', ...governingKeys];
const fileKeys = ['servers', 'oauth', 'govern', 'run'];
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export interface ServersFile {
  readonly servers: ReadonlyMap<string, ServerSpec>;
  /** Whose access tokens `mcp serve` takes in front. */
  readonly oauth: OAuthSettings | undefined;
}

/** Reads the content of a servers file. */
export function readServersFile(content: unknown, options: ServersFileOptions): ServersFile {
  if (!isObject(content) || !isObject(content['servers'])) {
    throw new ServersFileError('it must have "servers", with each server under its name');
  }
  const unknown = Object.keys(content).find((key) => !fileKeys.includes(key));
  if (unknown !== undefined) fail(`"${unknown}" is not known; there are ${fileKeys.join(', ')}`);
  const ofAll = readGoverning(content, '');
  const servers = new Map<string, ServerSpec>();
  for (const [name, entry] of Object.entries(content['servers'])) {
    if (!nameForm.test(name))
      throw new ServersFileError(`servers: "${name}" must be letters, digits, ".", "_" and "-"`);
    servers.set(name, readServer(`servers.${name}`, entry, ofAll, options));
  }
  if (servers.size === 0) throw new ServersFileError('"servers" must name at least one server');
  const text = (value: unknown, at: string) => expanded(value, at, options.variables);
  const oauth = content['oauth'] === undefined ? undefined : readOAuth(content['oauth'], text, fail);
  return { servers, oauth };
}

function readServer(at: string, entry: unknown, ofAll: Governing, options: ServersFileOptions): ServerSpec {
  if (!isObject(entry)) throw new ServersFileError(`${at} must have "command" or "url"`);
  const isCommand = entry['command'] !== undefined;
  if (isCommand === (entry['url'] !== undefined))
    throw new ServersFileError(`${at} must have either "command" or "url"`);
  const known = isCommand ? commandKeys : urlKeys;
  const unknown = Object.keys(entry).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new ServersFileError(`${at}.${unknown} is not known; there are ${known.join(', ')}`);
  const text = (value: unknown, where: string) => expanded(value, `${at}.${where}`, options.variables);
  const costs = readCosts(at, entry['costs'], options.variables);
  const own = readGoverning(entry, `${at}.`);
  const methods = own.methods ?? ofAll.methods ?? toolsAlone;
  const governed = { costs, methods, hasFixedRun: own.hasFixedRun || ofAll.hasFixedRun };
  if (!isCommand) {
    const url = urlOf(text(entry['url'], 'url'), at);
    const headers = readHeaders(at, entry, text);
    const auth = entry['auth'] === undefined ? undefined : readServerAuth(at, entry['auth'], url, headers, options);
    return { url, headers, auth, ...governed };
  }
  return {
    command: text(entry['command'], 'command'),
    args: listOf(entry['args'], `${at}.args`).map((arg, index) => text(arg, `args[${index}]`)),
    env: withoutOurs({ ...options.inherited, ...textsOf(entry['env'], 'env', at, text) }),
    cwd: entry['cwd'] === undefined ? undefined : text(entry['cwd'], 'cwd'),
    ...governed,
  };
}

interface Governing {
  readonly methods: GovernedMethods | undefined;
  readonly hasFixedRun: boolean;
}

/** What the file says at its top, or of one server. */
function readGoverning(content: JsonObject, at: string): Governing {
  const hasFixedRun = readFixedRun(content['run'], `${at}run`, fail);
  const { govern } = content;
  if (govern === undefined || govern === null) return { methods: undefined, hasFixedRun };
  const list: readonly unknown[] = Array.isArray(govern) ? govern : [govern];
  const names = list.map((name) => (typeof name === 'string' ? name : fail(`${at}govern must be all, or a list`)));
  try {
    return { methods: governedMethods(names), hasFixedRun };
  } catch (error) {
    return fail(`${at}govern: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readServerAuth(
  at: string,
  value: unknown,
  url: URL,
  headers: Readonly<Record<string, string>>,
  { variables }: ServersFileOptions,
): ServerAuth {
  if (!isSecureUrl(url)) fail(`${at}.auth needs a url with https, or http on loopback: tokens go there`);
  if (headers['authorization'] !== undefined) fail(`${at} has both auth and the header Authorization`);
  const text = (each: unknown, where: string) => expanded(each, where, variables);
  return readAuth(value, `${at}.auth`, { text, variables, fail });
}

function fail(message: string): never {
  throw new ServersFileError(message);
}

type ReadText = (value: unknown, where: string) => string;

function readHeaders(at: string, entry: JsonObject, text: ReadText): Record<string, string> {
  const headers = textsOf(entry['headers'], 'headers', at, text);
  const rows = Object.entries(headers).map(([name, value]): [string, string] => {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
      throw new ServersFileError(`${at}.headers: "${name}" is no header`);
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new ServersFileError(`${at}.headers.${name} has characters that no header may have`);
    return [name.toLowerCase(), value];
  });
  return Object.fromEntries(rows);
}

function textsOf(value: unknown, where: string, at: string, text: ReadText): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new ServersFileError(`${at}.${where} must be names with their values`);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, text(each, `${where}.${name}`)]));
}

function listOf(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ServersFileError(`${at} must be a list`);
  return value;
}

function readCosts(at: string, value: unknown, variables: Environment) {
  if (value === undefined || value === null) return freeOfCharge;
  if (!isObject(value)) throw new ServersFileError(`${at}.costs must be globs of tools with their costs in USD`);
  const rows = Object.entries(value).map(([glob, price]): [string, string | number] => {
    const isAmount = typeof price === 'number' || typeof price === 'string';
    if (!isAmount) throw new ServersFileError(`${at}.costs.${glob} must be dollars, as 0.01`);
    return [glob, typeof price === 'string' ? expanded(price, `${at}.costs.${glob}`, variables) : price];
  });
  try {
    return costsOf(Object.fromEntries(rows));
  } catch (error) {
    throw new ServersFileError(`${at}.costs: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Puts values of the environment in place of `${NAME}`. */
function expanded(value: unknown, at: string, variables: Environment): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new ServersFileError(`${at} must be a text`);
  return value.replaceAll(/\$\{([^{}]*)\}/g, (_whole, name: string) => {
    const found = variables[name];
    if (found === undefined)
      throw new ServersFileError(`${at} needs the environment variable ${name}, which is not set`);
    return found;
  });
}

/** Where a server is. Errors do not show the address: it may hold a secret. */
export function urlOf(text: string, at: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new ServersFileError(`${at}: url must be an address with http:// or https://`);
  }
  return url;
}

/** What is meant for this proxy, its tokens and keys first of all, is not for servers. */
export function withoutOurs(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^REEVE_/i.test(entry[0]),
  );
  return Object.fromEntries(entries);
}
