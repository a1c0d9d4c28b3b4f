import { readFileSync, statSync } from 'node:fs';
import type { Person, ServerAccess, ServerSpec, TokensOf } from '@reeve/proxy/mcp';
import { serverTokensOf, statedPerson } from '@reeve/proxy/mcp';
import { NoSubjectToken, readSubjectToken, subjectTokenVariable } from '../agent-identity/subject-token.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';
import { sealedLogin } from './sealed-login.ts';

const longestFile = 64 * 1024;
const tokenForm = /^[\x21-\x7e]+$/;

/** The tokens for the servers of a file. Those of a server are asked for once, whoever calls it. */
export function tokensFor(shell: Pick<Shell, 'env'>, servers: ReadonlyMap<string, ServerSpec>): TokensOf {
  const made = [...servers].flatMap(([name, spec]) => {
    if (!('url' in spec) || spec.auth === undefined) return [];
    return [[name, serverTokensOf(name, spec.auth, () => sealedLogin(shell, spec.url))] as const];
  });
  const all = new Map(made);
  return (name) => all.get(name);
}

/** How a command of this machine reaches a server: for the person whose tokens the environment names. */
export function ownAccess(shell: Pick<Shell, 'env'>, name: string, spec: ServerSpec): ServerAccess {
  const tokens = tokensFor(shell, new Map([[name, spec]]))(name);
  return { tokens, person: () => (needsPerson(spec) ? personHere(shell) : undefined) };
}

/**
 * The token of the user for whom the agent acts, for each check. Where the same token is exchanged for one of the server,
 * it may be nobody's business but the server's: it is sent along if the gateway takes tokens of its issuer.
 */
export function ownSubject(
  shell: Pick<Shell, 'env'>,
  spec: ServerSpec,
  takes: (issuer: string) => Promise<boolean>,
): () => Promise<string | undefined> {
  const file = variable(shell, subjectTokenVariable);
  return async () => {
    // A file that is named and holds no token ends the call here, whatever other token there is.
    const token = readSubjectToken(file);
    if (!needsPerson(spec) || token === undefined) return token;
    if (!tokenForm.test(token)) throw new NoSubjectToken(`the file of ${subjectTokenVariable} holds no token: ${file}`);
    const issuer = statedPerson(token, undefined)?.issuer ?? '';
    return (await takes(issuer)) ? token : undefined;
  };
}

/** The tokens of the person of this machine are not for servers that have tokens of their own. */
function needsPerson(spec: ServerSpec): boolean {
  const type = 'url' in spec ? spec.auth?.type : undefined;
  return type === 'token_exchange' || type === 'enterprise';
}

/** Read anew each time: tokens do not last, and somebody replaces them in the files. */
function personHere(shell: Pick<Shell, 'env'>): Person | undefined {
  const token = tokenIn(variable(shell, subjectTokenVariable));
  const idToken = tokenIn(variable(shell, 'REEVE_ID_TOKEN_FILE'));
  return statedPerson(token, idToken);
}

/** A file that is missing holds no token, so that calls that need one are denied. */
function tokenIn(path: string | undefined): string | undefined {
  try {
    if (path === undefined || statSync(path).size > longestFile) return undefined;
    const token = readFileSync(path, 'utf8').trim();
    return tokenForm.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
