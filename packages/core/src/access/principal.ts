import type { Binding } from './authority.ts';
import type { Actor } from '../audit/index.ts';
import { ReeveError } from '../kernel/index.ts';
import type { AgentId } from '../kernel/index.ts';

/** A person who is logged in. */
export interface Login {
  readonly accountId: string;
  readonly sessionId: string;
  readonly role: Role;
}

/** An authenticated caller: who it is, what it may do, and in which tenant. */
export interface Principal {
  readonly actor: Actor;
  /** The account, or the API key, also of a token made from it. Limits count by this id. */
  readonly credentialId: string;
  /** The person, if the caller has logged in. */
  readonly login?: Login;
  /** How many ends of credentials were known when this was looked up (`Callers`). */
  readonly asOf: number;
  /** The key that signed the token, if the caller showed one. */
  readonly signedBy?: string;
  /** When the credential ends; null if never. */
  readonly expiresAt: number | null;
  /** Names the request in audit entries, if there is one. */
  readonly requestId?: string;
  readonly scopes: readonly Scope[];
  readonly orgId: string | null;
  readonly teamId: string | null;
}

/** A caller that is bound to no tenant. */
export type UnboundPrincipal = Principal & { readonly orgId: null };

/** A caller that is a person. An API key is none. */
export type Person = Principal & { readonly login: Login };

export function requireScope(principal: Principal, needed: Scope): void {
  if (covers(principal.scopes, needed)) return;
  throw new ReeveError(
    'insufficient_scope',
    `this needs the scope "${needed}"; the credential has ${principal.scopes.join(', ') || 'none'}`,
    {
      required_scope: needed,
    },
  );
}

/** Whether an agent, or all that a binding covers, lies within the caller's tenant. Only this function decides it. */
export function mayReach(principal: Binding, target: Binding): boolean {
  if (principal.orgId !== null && principal.orgId !== target.orgId) return false;
  return principal.teamId === null || principal.teamId === target.teamId;
}

/** Refuses a caller that is bound to a tenant. Guards what concerns the whole gateway. */
export function requireUnbound(principal: Principal): asserts principal is UnboundPrincipal {
  if (principal.orgId === null) return;
  throw new ReeveError('tenant_bound', 'this belongs to credentials that are bound to no org');
}

/** The org and team that a query is narrowed to: the caller's own. A filter can only narrow it further. */
export function narrowedTo(
  principal: Principal,
  filter: { readonly orgId?: string | undefined; readonly teamId?: string | undefined },
): { readonly orgId?: string; readonly teamId?: string } | 'nothing' {
  const orgId = both(principal.orgId, filter.orgId);
  const teamId = both(principal.teamId, filter.teamId);
  if (orgId === 'nothing' || teamId === 'nothing') return 'nothing';
  return { ...orgId.map((value) => ({ orgId: value }))[0], ...teamId.map((value) => ({ teamId: value }))[0] };
}

/** The one value that must match, none, or `nothing` if the two contradict each other. */
function both(bound: string | null, asked: string | undefined): readonly string[] | 'nothing' {
  if (bound === null) return asked === undefined ? [] : [asked];
  return asked === undefined || asked === bound ? [bound] : 'nothing';
}

export function requireReach(principal: Principal, agent: AgentId): void {
  if (mayReach(principal, agent)) return;
  throw new ReeveError('outside_tenant', 'the credential is bound to another tenant');
}

/** Scopes in rising order: each includes those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** The granted scopes, limited to what `most` covers. */
export function within(granted: readonly Scope[], most: readonly Scope[]): readonly Scope[] {
  if (granted.every((scope) => covers(most, scope))) return granted;
  return scopes.filter((scope) => covers(granted, scope) && covers(most, scope));
}

/** Whether a grant covers the needed scope. A higher scope includes the lower ones. */
export function covers(granted: readonly Scope[], needed: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(needed));
}

/** From the most to the least powerful. */
export const roles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** A role, and the tenant that it is held in. */
export interface HeldRole extends Binding {
  readonly role: Role;
}

/** The scopes of each role (contract, Accounts). */
export const scopesOfRole = {
  owner: ['read', 'write', 'admin'],
  admin: ['read', 'write', 'admin'],
  developer: ['read', 'write'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly Scope[]>;
