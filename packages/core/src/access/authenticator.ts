import type { Binding } from './authority.ts';
import { commonBinding, isSameBinding } from './authority.ts';
import type { HeldRole, Scope, Login, Principal } from './principal.ts';
import { scopesOfRole, within } from './principal.ts';
import { RecentMap, ReeveError } from '../kernel/index.ts';
import type { Access } from './access.ts';
import type { ApiKeyRecord } from './api-key.ts';
import type { AccountClaims, KeyClaims, TokenClaims } from './signing-key.ts';

const mostRemembered = 10_000;

/** Finds who is logged in with a session right now. Undefined if the session has ended. */
export type FindLogin = (sessionId: string) => Promise<FoundLogin | undefined>;

export interface FoundLogin extends Login, Binding {
  readonly email: string;
}

/** Finds the present roles of these accounts. Undefined if one of them is not active. */
export type FindRoles = (accountIds: readonly string[]) => Promise<readonly HeldRole[] | undefined>;

/** Looks up the people behind credentials. */
export interface People {
  readonly findLogin: FindLogin;
  readonly findRoles: FindRoles;
}

/** For a gateway without accounts. */
const nobody: People = {
  findLogin: () => Promise.resolve(undefined),
  findRoles: () => Promise.resolve(undefined),
};

/**
 * Authenticates callers. It finds raw keys in memory. It verifies each token once and then remembers it, but checks
 * expiry and revocation on every call. It asks the store only if an account stands behind the credential.
 */
export class Authenticator {
  readonly #access: Access;
  readonly #people: People;
  readonly #verified = new RecentMap<VerifiedToken>(mostRemembered);

  constructor(access: Access, people: People = nobody) {
    this.#access = access;
    this.#people = people;
  }

  /** The caller behind an `Authorization` value. The error does not say what was wrong: that would help a guesser. */
  async authenticate(authorization: string | undefined): Promise<Principal> {
    const bearer = bearerOf(authorization);
    await this.#access.callers.settled();
    // What ends from now on may be missing in what is looked up.
    const { asOf } = this.#access.callers;
    const principal = (await this.#ofRawKey(bearer, asOf)) ?? (await this.#ofToken(bearer, asOf));
    if (principal === undefined) throw refused();
    return principal;
  }

  /** The API key behind an `Authorization` value; a token made from one is not enough. */
  async authenticateKey(authorization: string | undefined): Promise<Principal> {
    const bearer = bearerOf(authorization);
    await this.#access.callers.settled();
    const principal = await this.#ofRawKey(bearer, this.#access.callers.asOf);
    if (principal === undefined) throw refused();
    return principal;
  }

  /** The caller that another gateway may have authenticated, if it is still valid. */
  async renew(principal: Principal): Promise<Principal | undefined> {
    await this.#access.callers.settled();
    const { asOf } = this.#access.callers;
    return (await this.isStillValid(principal)) ? { ...principal, asOf } : undefined;
  }

  /** Whether an authenticated caller is still valid, with all its rights. Streams that stay open ask this. */
  async isStillValid(principal: Principal): Promise<boolean> {
    const { credentialId, login } = principal;
    await this.#access.callers.settled();
    if (!this.#access.callers.isInForce(principal)) return false;
    if (login !== undefined) {
      const found = await this.#people.findLogin(login.sessionId);
      return found !== undefined && found.role === login.role && isSameBinding(found, principal);
    }
    const left = await this.#left(credentialId, principal);
    return left !== undefined && isAll(left, principal);
  }

  /**
   * What a key may do now. The key works while every account behind it is active, and does no more than each of their
   * roles allows, in the tenants of all of them. So an account that is no longer an admin has no admin key either. Most
   * keys have no account behind them and need no lookup.
   */
  async #left(keyId: string, { scopes, orgId, teamId }: Granted): Promise<Granted | undefined> {
    const granted = { scopes, orgId, teamId };
    const accounts = this.#access.keys.accountsBehind(keyId);
    if (accounts.length === 0) return granted;
    const held = await this.#people.findRoles(accounts);
    return held?.reduce<Granted | undefined>((left, role) => left && leftWith(left, role), granted);
  }

  #used(principal: Principal): Principal {
    this.#access.keys.noteUse(principal.credentialId);
    return principal;
  }

  async #ofRawKey(bearer: string, asOf: number): Promise<Principal | undefined> {
    const key = this.#access.keys.recognise(bearer);
    const left = key === undefined ? undefined : await this.#left(key.id, key);
    return key && left && this.#used({ ...principalOfKey(key, asOf), ...left });
  }

  async #ofToken(bearer: string, asOf: number): Promise<Principal | undefined> {
    const verified = await this.#verify(bearer);
    if (verified === undefined) return undefined;
    const { claims, kid } = verified;
    const principal = claims.kind === 'api_key' ? await this.#ofKey(claims, asOf) : await this.#ofAccount(claims, asOf);
    if (principal === undefined) return undefined;
    const shown = { ...principal, expiresAt: claims.expiresAt, signedBy: kid };
    return this.#access.callers.isInForce(shown) ? shown : undefined;
  }

  async #verify(token: string): Promise<VerifiedToken | undefined> {
    const { mint, signingKeys } = this.#access;
    const name = this.#access.sha256(token);
    const remembered = this.#verified.get(name);
    if (remembered !== undefined) return remembered;
    let kid = '';
    const claims = await mint.verify(token, (named) => {
      kid = named;
      return signingKeys.findForTokens(named);
    });
    if (claims === undefined) return undefined;
    this.#verified.set(name, { claims, kid });
    return { claims, kid };
  }

  async #ofKey(claims: KeyClaims, asOf: number): Promise<Principal | undefined> {
    const { keys } = this.#access;
    const key = keys.find(claims.sub);
    if (key === undefined || !keys.isInForce(key.id)) return undefined;
    const left = await this.#left(key.id, claims);
    return left && this.#used({ ...principalOfKey(key, asOf), ...left });
  }

  /** The tokens of a session end with it. A changed role or tenant applies at once. */
  async #ofAccount(claims: AccountClaims, asOf: number): Promise<Principal | undefined> {
    const login = await this.#people.findLogin(claims.sessionId);
    if (login === undefined || login.accountId !== claims.sub) return undefined;
    const { accountId, sessionId, role } = login;
    return { ...principalOfAccount(login, claims.expiresAt, asOf), login: { accountId, sessionId, role } };
  }
}

/** A token that was verified, and the key that has signed it. */
interface VerifiedToken {
  readonly claims: TokenClaims;
  readonly kid: string;
}

/** What an account may do, and where. */
export function principalOfAccount(
  { accountId, role, email, orgId, teamId }: Omit<FoundLogin, 'sessionId'>,
  expiresAt: number,
  asOf: number,
): Principal {
  return {
    actor: { id: accountId, kind: 'account', label: email },
    credentialId: accountId,
    scopes: scopesOfRole[role],
    orgId,
    teamId,
    expiresAt,
    asOf,
  };
}

/** What a credential may do, and where. */
interface Granted extends Binding {
  readonly scopes: readonly Scope[];
}

function leftWith(granted: Granted, held: HeldRole): Granted | undefined {
  const binding = commonBinding(granted, held);
  return binding && { ...binding, scopes: within(granted.scopes, scopesOfRole[held.role]) };
}

/** Whether these roles leave a credential all that it was granted. */
export function leaveAll(granted: Granted, roles: readonly HeldRole[]): boolean {
  return roles.every((role) => {
    const left = leftWith(granted, role);
    return left !== undefined && isAll(left, granted);
  });
}

/** Whether what is left of a grant is all of it. */
function isAll(left: Granted, granted: Granted): boolean {
  return isSameBinding(left, granted) && left.scopes.length === granted.scopes.length;
}

function principalOfKey(key: ApiKeyRecord, asOf: number): Principal {
  return {
    actor: { id: key.id, kind: 'api_key', label: key.label },
    credentialId: key.id,
    scopes: key.scopes,
    orgId: key.orgId,
    teamId: key.teamId,
    expiresAt: key.expiresAt,
    asOf,
  };
}

function bearerOf(authorization: string | undefined): string {
  const bearer = /^bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  throw new ReeveError('unauthenticated', 'this needs the header "Authorization: Bearer <API key or token>"');
}

function refused(): ReeveError {
  return new ReeveError('unauthenticated', 'the credential is not valid: it is wrong, expired or revoked');
}
