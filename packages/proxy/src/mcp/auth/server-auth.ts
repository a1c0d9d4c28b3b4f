import { secureUrlIn } from '../../oauth/secure-url.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';

/** The client that the proxy is at an authorization server. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string;
  /** The variable that holds the secret, for errors. */
  readonly secretFrom: string;
}

interface ClientCredentialsAuth {
  readonly type: 'client_credentials';
  readonly tokenUrl: URL;
  readonly client: OAuthClient;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
}

interface TokenExchangeAuth {
  readonly type: 'token_exchange';
  readonly tokenUrl: URL;
  readonly client: OAuthClient;
  readonly audience: string | undefined;
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}

interface EnterpriseAuth {
  readonly type: 'enterprise';
  readonly idpTokenUrl: URL;
  readonly tokenUrl: URL;
  readonly client: OAuthClient;
  readonly audience: string;
  readonly resource: string;
}

export interface PersonAuth {
  readonly type: 'person';
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  /** The only authorization server that is trusted. Undefined: whichever the MCP server names. */
  readonly issuer: URL | undefined;
}

/** How the proxy gets the access tokens that a server behind it wants. */
export type ServerAuth = ClientCredentialsAuth | TokenExchangeAuth | EnterpriseAuth | PersonAuth;

/** The members of each type. A `?` may be missing. */
const members = {
  client_credentials: ['token_url', 'client_id', 'client_secret_env', 'scope?', 'resource?'],
  token_exchange: ['token_url', 'client_id', 'client_secret_env', 'audience?', 'resource?', 'scope?'],
  enterprise: ['idp_token_url', 'token_url', 'client_id', 'client_secret_env', 'audience', 'resource'],
  person: ['client_id?', 'client_secret_env?', 'scope?', 'issuer?'],
} as const satisfies Record<ServerAuth['type'], readonly string[]>;

export interface AuthReader {
  /** Puts values of the environment in place of `${NAME}`. */
  readonly text: (value: unknown, at: string) => string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly fail: (message: string) => never;
}

/** Reads `auth` of a server. */
export function readAuth(value: unknown, at: string, reader: AuthReader): ServerAuth {
  const { fail } = reader;
  if (!isObject(value)) return fail(`${at} must have a type: ${Object.keys(members).join(', ')}`);
  const { type } = value;
  if (!isType(type)) return fail(`${at}.type must be one of ${Object.keys(members).join(', ')}`);
  const known = members[type].map((name) => name.replace('?', ''));
  const unknown = Object.keys(value).find((key) => key !== 'type' && !known.includes(key));
  if (unknown !== undefined) fail(`${at}.${unknown} is not known; type ${type} has ${known.join(', ')}`);
  const needed: readonly string[] = members[type].filter((name) => !name.endsWith('?'));
  const missing = needed.find((name) => value[name] === undefined);
  if (missing !== undefined) fail(`${at}.${missing} is missing; type ${type} needs ${needed.join(', ')}`);
  const part = new AuthPart(value, at, reader);
  const [scope, resource] = [part.optional('scope'), part.optional('resource')];
  if (type === 'person') {
    const [clientId, secret] = [part.optional('client_id'), part.optional('client_secret_env')];
    if (secret !== undefined && clientId === undefined) fail(`${at}.client_secret_env needs client_id`);
    const issuer = value['issuer'] === undefined ? undefined : part.url('issuer');
    return { type, clientId, clientSecret: secret === undefined ? undefined : part.secret(), scope, issuer };
  }
  const client = { id: part.text('client_id'), secret: part.secret(), secretFrom: part.text('client_secret_env') };
  const tokenUrl = part.url('token_url');
  if (type === 'client_credentials') return { type, tokenUrl, client, scope, resource };
  if (type === 'token_exchange')
    return { type, tokenUrl, client, audience: part.optional('audience'), resource, scope };
  const [audience, idpTokenUrl] = [part.text('audience'), part.url('idp_token_url')];
  return { type, idpTokenUrl, tokenUrl, client, audience, resource: part.text('resource') };
}

class AuthPart {
  readonly #value: JsonObject;
  readonly #at: string;
  readonly #reader: AuthReader;

  constructor(value: JsonObject, at: string, reader: AuthReader) {
    this.#value = value;
    this.#at = at;
    this.#reader = reader;
  }

  text(name: string): string {
    const text = this.#reader.text(this.#value[name], `${this.#at}.${name}`);
    return text === '' ? this.#reader.fail(`${this.#at}.${name} must not be empty`) : text;
  }

  optional(name: string): string | undefined {
    return this.#value[name] === undefined ? undefined : this.text(name);
  }

  /** The secret itself is in no file. */
  secret(): string {
    const name = this.text('client_secret_env');
    const secret = this.#reader.variables[name];
    if (secret !== undefined && secret !== '') return secret;
    const what = `${this.#at}.client_secret_env names an environment variable that is not set`;
    // What was meant to be the secret itself must not be shown.
    return this.#reader.fail(/^[A-Z_][A-Z0-9_]*$/.test(name) ? `${what}: ${name}` : what);
  }

  url(name: string): URL {
    const url = secureUrlIn(this.text(name));
    return url ?? this.#reader.fail(`${this.#at}.${name} must be an https address, or http on loopback`);
  }
}

function isType(type: unknown): type is ServerAuth['type'] {
  return typeof type === 'string' && Object.hasOwn(members, type);
}
