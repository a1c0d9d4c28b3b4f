/** What a credential is bound to: everything, one org, or one team of an org. */
export interface Binding {
  readonly orgId: string | null;
  readonly teamId: string | null;
}

/** How wide a binding is. The narrowest comes first. */
export const widths = ['team', 'org', 'unbound'] as const;

export type Width = (typeof widths)[number];

export function widthOf({ orgId, teamId }: Binding): Width {
  if (orgId === null) return 'unbound';
  return teamId === null ? 'org' : 'team';
}

/** Whether `width` may undo what `other` did: what a wider credential imposed, a narrower one cannot lift. */
export function isAtLeastAsWide(width: Width, other: Width): boolean {
  return widths.indexOf(width) >= widths.indexOf(other);
}

/** Whether a credential may change, roll back or delete a document that credentials up to this width have written. */
export function mayChangeDocument(by: Binding, widestWriter: Width): boolean {
  return isAtLeastAsWide(widthOf(by), widestWriter);
}

/** The wider of two, as for a document that several have written. */
export function widest(a: Width, b: Width): Width {
  return isAtLeastAsWide(a, b) ? a : b;
}
