import type { Binding, Width } from '../access/authority.ts';
import { widthOf } from '../access/authority.ts';
import { isId } from '../kernel/agent-id.ts';

/**
 * Documents of a bound author live in the namespace of its binding: `<org>/<name>` or `<org>/<team>/<name>`. Those of
 * files and of unbound authors have no `/`, so no tenant can take their names. Ids hold no `/`, so a name can be read in
 * one way only.
 */

/** What the names of a credential's own documents begin with; nothing where it is bound to no tenant. */
export function namespaceOf({ orgId, teamId }: Binding): string {
  if (orgId === null) return '';
  return teamId === null ? `${orgId}/` : `${orgId}/${teamId}/`;
}

/** Whose namespace a name stands in; undefined where it can be no name. */
export function bindingOfName(name: string): Binding | undefined {
  const parts = name.split('/');
  if (parts.length > 3 || !parts.every(isId)) return undefined;
  const [orgId, teamId] = parts.slice(0, -1);
  return { orgId: orgId ?? null, teamId: teamId ?? null };
}

/**
 * Whose a text counts as when it is read. What stands in a tenant's namespace is the tenant's, whoever wrote it last:
 * the operator who corrects or rolls back such a document does not vouch for all that the tenant wrote in it.
 */
export function authorOf(source: { readonly name?: string; readonly author?: Width }): Width {
  const { name, author = 'unbound' } = source;
  const binding = name === undefined ? undefined : bindingOfName(name);
  return binding === undefined || binding.orgId === null ? author : widthOf(binding);
}

/** The name within its namespace, as its author may write it. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
