/** Scopes in rising order: each includes those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** What is left of some scopes where another grant bounds them. */
export function within(granted: readonly Scope[], most: readonly Scope[]): readonly Scope[] {
  if (granted.every((scope) => covers(most, scope))) return granted;
  return scopes.filter((scope) => covers(granted, scope) && covers(most, scope));
}

/** Whether a grant covers what is needed; a higher scope includes the lower ones. */
export function covers(granted: readonly Scope[], needed: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(needed));
}

/** From the most to the least powerful. */
export const roles = ['owner', 'admin', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

/** Roles give scopes (contract, Accounts). */
export const scopesOfRole = {
  owner: ['read', 'write', 'admin'],
  admin: ['read', 'write', 'admin'],
  developer: ['read', 'write'],
  viewer: ['read'],
} as const satisfies Record<Role, readonly Scope[]>;
