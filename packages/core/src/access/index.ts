export { accessFacts } from './access-facts.ts';
export { apiKeysTable, makerIn, signingKeysTable } from './access-rows.ts';
export type { AccessSnapshot } from './access-snapshot.ts';
export type { Access, AccessChange } from './access.ts';
export { EndedCredentials } from './access.ts';
export type { ApiKeyRecord, Maker } from './api-key.ts';
export { parseApiKey } from './api-key.ts';
export type { FindLogin, FindRoles } from './authenticator.ts';
export { Authenticator, leaveAll, principalOfAccount } from './authenticator.ts';
export type { ReadCredentials } from './callers.ts';
export type { KnownCallers } from './callers.ts';
export { Callers, isKey } from './callers.ts';
export type { Binding, Standing, Width } from './authority.ts';
export {
  commonBinding,
  isAtLeastAsWide,
  isSameBinding,
  mayChangeDocument,
  refusalOf,
  widest,
  widthOf,
  widths,
} from './authority.ts';
export type { Descents } from './credential-lineage.ts';
export {
  isOfLineageOfAny,
  keyInForceSince,
  makerOf,
  orphansIn,
  peopleBehind,
  rootsWith,
} from './credential-lineage.ts';
export type { IssuedToken } from './exchange-token.ts';
export { exchangeToken } from './exchange-token.ts';
export type { IssuerSettings, Issuers, Proven, SubjectIssuer, TokenCheck, TokenVerifier } from './issuers.ts';
export type { TrustedIssuer } from './issuers.ts';
export { longestJwt, proveBy } from './issuers.ts';
export type { KnownKeys } from './key-ring.ts';
export { KeyRing } from './key-ring.ts';
export type { FindAccounts, KnownAccount } from './known-account.ts';
export { emailKeyOf, plainEmail } from './known-account.ts';
export type { MadeKey } from './manage-keys.ts';
export { createKey, installFirstKey, listKeys, replaceSigningKeys, revokeKey } from './manage-keys.ts';
export { makeSigningKey, replaceLostKey, rotateKey, rotateSigningKey } from './manage-keys.ts';
export type { HeldRole, Login, Person, Principal, Role, Scope, UnboundPrincipal } from './principal.ts';
export { covers, mayReach, narrowedTo, requireReach, requireScope, requireUnbound, roles } from './principal.ts';
export { scopes, scopesOfRole, within } from './principal.ts';
export type { Registered } from './require-authority.ts';
export { requireAuthority, standingOf } from './require-authority.ts';
export type { KnownSigningKeys, SigningKeyRecord, TokenClaims, TokenMint } from './signing-key.ts';
export { SigningKeyRing } from './signing-key.ts';
export type { IssuedTicket, Tickets } from './tickets.ts';
export { TicketRegistry, authenticateTicket, newTicket, redeemTicket, ticketTtlMs } from './tickets.ts';
