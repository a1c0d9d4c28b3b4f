import type { Glob } from '../../glob.ts';
import { compileGlob } from '../../glob.ts';
import { secureUrlIn } from '../../oauth/secure-url.ts';
import type { JsonObject } from '../protocol/written-json.ts';
import { isObject } from '../protocol/written-json.ts';

/** As which agent callers act whose claims match. */
interface AgentRule {
  readonly match: ReadonlyMap<string, Glob>;
  /** ORG/TEAM/AGENT. */
  readonly agent: string;
}

/** Whose access tokens the proxy takes in front, and as which agents their callers act. */
export interface OAuthSettings {
  readonly issuer: string;
  /** Undefined: the address of the server that is called. */
  readonly audience: string | undefined;
  readonly jwksUri: URL | undefined;
  /** All of them are needed. */
  readonly scopes: readonly string[];
  readonly agents: readonly AgentRule[];
}

const keys = ['issuer', 'audience', 'jwks_uri', 'scopes', 'agents'];
const ruleKeys = ['match', 'agent'];
/** What RFC 6749 permits in a scope. */
const scopeForm = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const idForm = '[A-Za-z0-9][A-Za-z0-9._-]{0,127}';
const agentForm = new RegExp(`^(-|${idForm})/(-|${idForm})/${idForm}$`);

/** Reads `oauth` of a servers file. `fail` throws. `text` puts values of the environment in place. */
export function readOAuth(
  value: unknown,
  text: (value: unknown, at: string) => string,
  fail: (message: string) => never,
): OAuthSettings {
  if (!isObject(value)) return fail(`oauth must have ${keys.join(', ')}`);
  requireKnown(value, keys, 'oauth', fail);
  const issuer = text(value['issuer'], 'oauth.issuer');
  const url = secureUrlIn(issuer);
  if (url === undefined || url.search !== '') fail('oauth.issuer must be an https address, or http on loopback');
  const jwks = value['jwks_uri'] === undefined ? undefined : text(value['jwks_uri'], 'oauth.jwks_uri');
  const jwksUri = secureUrlIn(jwks);
  if (jwks !== undefined && jwksUri === undefined) {
    fail('oauth.jwks_uri must be an https address, or http on loopback');
  }
  const audience = value['audience'] === undefined ? undefined : text(value['audience'], 'oauth.audience');
  if (audience === '') fail('oauth.audience must not be empty');
  const scopes = listOf(value['scopes'] ?? [], 'oauth.scopes', fail).map((scope, at) => {
    const given = text(scope, `oauth.scopes[${at}]`);
    return scopeForm.test(given) ? given : fail(`oauth.scopes[${at}] must be one scope`);
  });
  const rules = listOf(value['agents'], 'oauth.agents', fail);
  if (rules.length === 0) fail('oauth.agents must say as which agents callers act');
  const agents = rules.map((rule, at) => readRule(rule, `oauth.agents[${at}]`, text, fail));
  return { issuer, audience, jwksUri, scopes, agents };
}

function readRule(
  rule: unknown,
  at: string,
  text: (value: unknown, at: string) => string,
  fail: (message: string) => never,
): AgentRule {
  if (!isObject(rule) || !isObject(rule['match']))
    return fail(`${at} must have match, with claims and globs, and agent`);
  requireKnown(rule, ruleKeys, at, fail);
  const agent = text(rule['agent'], `${at}.agent`);
  if (!agentForm.test(agent)) fail(`${at}.agent must be ORG/TEAM/AGENT, with "-" for an empty org or team`);
  const match = Object.entries(rule['match']).map(([claim, glob]): [string, Glob] => {
    const compiled = compileGlob(text(glob, `${at}.match.${claim}`));
    return [claim, compiled ?? fail(`${at}.match.${claim} is no glob`)];
  });
  if (match.length === 0) fail(`${at}.match must name a claim; sub: "**" is anybody`);
  return { match: new Map(match), agent };
}

function requireKnown(value: JsonObject, known: readonly string[], at: string, fail: (message: string) => never): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) fail(`${at}.${unknown} is not known; there are ${known.join(', ')}`);
}

function listOf(value: unknown, at: string, fail: (message: string) => never): readonly unknown[] {
  return Array.isArray(value) ? value : fail(`${at} must be a list`);
}

/** The agent of the first entry whose globs all match, or undefined. An email that the issuer has not verified is none. */
export function agentFor({ agents }: OAuthSettings, claims: Readonly<Record<string, unknown>>): string | undefined {
  const { email, ...others } = claims;
  // Some providers write it as a text.
  const isUnverified = [false, 'false'].includes(claims['email_verified'] as boolean | string);
  const counting = isUnverified ? others : { email, ...others };
  const fits = ({ match }: AgentRule) => [...match].every(([claim, glob]) => textsOf(counting, claim).some(glob.test));
  return agents.find(fits)?.agent;
}

const longestText = 4096;

/** What a claim says: itself, or each member of a list. Members of members are named by dots. */
function textsOf(claims: Readonly<Record<string, unknown>>, claim: string): readonly string[] {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : memberAt(claims, claim);
  const all: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = all.filter((each) => typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean');
  return texts.map(String).filter((each) => each !== '' && each.length <= longestText);
}

function memberAt(claims: Readonly<Record<string, unknown>>, path: string): unknown {
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll(String.raw`\.`, '.'));
  return names.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), claims);
}

/** Whether the token lacks one of the scopes that are needed. */
export function lacksScopes({ scopes }: OAuthSettings, claims: Readonly<Record<string, unknown>>): boolean {
  const given = new Set(
    [claims['scope'], claims['scp']].flat().flatMap((each) => (typeof each === 'string' ? each.split(' ') : [])),
  );
  return scopes.some((scope) => !given.has(scope));
}
