/** Scopes in rising order: each includes those before it. */
export const scopes = ['read', 'write', 'admin'] as const;

export type Scope = (typeof scopes)[number];

/** Whether a grant covers what is needed; a higher scope includes the lower ones. */
export function covers(granted: readonly Scope[], needed: Scope): boolean {
  return granted.some((scope) => scopes.indexOf(scope) >= scopes.indexOf(needed));
}
