import type { Scope } from './scope.ts';

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
