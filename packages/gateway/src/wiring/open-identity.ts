import type { Accounts, AccountsAccess, Governance, SignOnProvider, Tickets } from '@reeve/core';
import { Authenticator, findLoginIn, findRolesIn, MemoryAccountStore, TicketRegistry } from '@reeve/core';
import { JoseMint } from '../adapters/crypto/jose-mint.ts';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { PasswordPool } from '../adapters/crypto/password-pool.ts';
import { OidcProvider } from '../adapters/oidc/oidc-provider.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { Afterwards } from '../background/afterwards.ts';
import type { Config } from '../config/settings.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/** Identifies callers by key, token, ticket and password. */
export interface Identity {
  readonly access: AccountsAccess;
  readonly accounts: Accounts;
  /** The provider of a single sign-on, if there is one. */
  readonly provider: SignOnProvider | undefined;
  /** Whether there is an account store. */
  readonly hasAccounts: boolean;
  readonly authenticator: Authenticator;
  readonly tickets: Tickets;
  readonly afterwards: Afterwards;
}

/** The keys of callers, and the keys that sign tokens. */
export function credentialsOf(config: Config, gov: Governance): AccountsAccess {
  return {
    clock: systemClock,
    randomness,
    sha256,
    journal: gov.journal,
    keys: gov.keys,
    callers: gov.callers,
    signingKeys: gov.callers.signingKeys,
    mint: new JoseMint(),
    tokenTtlMs: config.tokenTtlSecs * 1000,
    ended: gov.ended,
  };
}

/** Opens the threads that hash passwords, and the work after answers. Closing waits for both. */
export function openIdentity(
  { config, logger, opened }: WiringContext,
  access: AccountsAccess,
  { accountStore, shared }: Pick<OpenStore, 'accountStore' | 'shared'>,
): Identity {
  const hasher = new PasswordPool({ onFault: (why) => logger.warn({ why }, 'a thread for passwords has ended') });
  opened.defer(() => hasher.close(), 'the threads for passwords');
  const accounts: Accounts = {
    access,
    // Without an account store, the routes that would use it answer 503 before they do.
    store: accountStore ?? new MemoryAccountStore(),
    hasher,
    settings: accountSettings(config),
  };
  const afterwards = new Afterwards((error) => logger.error({ err: error }, 'work after an answer failed'));
  opened.defer(() => afterwards.settled(), 'work after answers');
  return {
    access,
    accounts,
    provider: providerOf(config, logger),
    hasAccounts: accountStore !== undefined,
    authenticator: new Authenticator(access, {
      findLogin: findLoginIn(accounts.store, systemClock, accounts.settings),
      findRoles: findRolesIn(accounts.store),
    }),
    tickets: shared?.tickets ?? new TicketRegistry(systemClock, randomness),
    afterwards,
  };
}

function accountSettings(config: Config): Accounts['settings'] {
  return {
    accessTokenTtlMs: config.accessTokenTtlSecs * 1000,
    refreshTtlMs: config.refreshTtlSecs * 1000,
    refreshTtlRememberMs: config.refreshTtlRememberSecs * 1000,
    inviteTtlMs: config.inviteTtlSecs * 1000,
    resetTtlMs: config.resetTtlSecs * 1000,
    lockoutAttempts: config.lockoutAttempts,
    lockoutMs: config.lockoutSecs * 1000,
    openRegistration: config.authOpenRegistration,
    passwords: config.authPassword === 'on',
    oidc:
      config.oidcIssuer === undefined
        ? null
        : {
            roles: config.oidcRoles ?? [],
            defaultRole: config.oidcDefaultRole ?? null,
            linkByEmail: config.oidcLinkByEmail,
          },
  };
}

function providerOf(config: Config, logger: WiringContext['logger']): SignOnProvider | undefined {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = config;
  if (issuer === undefined || clientId === undefined) return undefined;
  return new OidcProvider({
    issuer,
    clientId,
    clientSecret,
    scopes: config.oidcScopes,
    roleClaim: config.oidcRoleClaim,
    elapsed: systemClock.elapsed,
    onFailure: (failure) => logger.warn(failure, 'a single sign-on failed at its provider'),
  });
}
