/** What a credential is bound to: everything, one org, or one team of an org. */
export interface Binding {
  readonly orgId: string | null;
  readonly teamId: string | null;
}

/** What two bindings have in common. Undefined if they exclude each other. */
export function commonBinding(a: Binding, b: Binding): Binding | undefined {
  const exclude = (one: string | null, other: string | null) => one !== null && other !== null && one !== other;
  if (exclude(a.orgId, b.orgId) || exclude(a.teamId, b.teamId)) return undefined;
  return { orgId: a.orgId ?? b.orgId, teamId: a.teamId ?? b.teamId };
}

export function isSameBinding(a: Binding, b: Binding): boolean {
  return a.orgId === b.orgId && a.teamId === b.teamId;
}

/** How wide a binding is. The narrowest comes first. */
export const widths = ['team', 'org', 'unbound'] as const;

export type Width = (typeof widths)[number];

export function widthOf({ orgId, teamId }: Binding): Width {
  if (orgId === null) return 'unbound';
  return teamId === null ? 'org' : 'team';
}

/** Whether `width` may undo what `other` did. A narrower credential cannot lift what a wider one imposed. */
export function isAtLeastAsWide(width: Width, other: Width): boolean {
  return widths.indexOf(width) >= widths.indexOf(other);
}

/** The wider of two widths, for example of two writers of a document. */
export function widest(a: Width, b: Width): Width {
  return isAtLeastAsWide(a, b) ? a : b;
}

/** What one caller imposes or holds, and another may want to lift, change or decide. */
export const subjects = [
  'suspension',
  'pause',
  'unconfirmed_stop',
  'labels',
  'policy_document',
  'approval',
  'approval_by_others',
  'cap',
  'invite',
  'owner_account',
] as const;

export type Subject = (typeof subjects)[number];

/** Why a caller is refused. */
export type Refusal = 'imposed_by_wider' | 'own_agent' | 'own_approval' | 'owner_required';

interface Rule {
  /** Only a credential at least as wide as the one that imposed it may act. */
  readonly asWide: boolean;
  /** The refusal for the lineage of the credential that registered the agent. Unbound admins are exempt, unless `strict`. */
  readonly own: 'own_agent' | 'own_approval' | null;
  readonly strict?: true;
  /** Only a logged-in owner may act. */
  readonly ownerOnly: boolean;
}

const liftingOfAgents: Rule = { asWide: true, own: 'own_agent', ownerOnly: false };

/** Who may lift, change or decide what. Every use case that does so asks this table. */
export const authority: Readonly<Record<Subject, Rule>> = {
  suspension: liftingOfAgents,
  pause: liftingOfAgents,
  unconfirmed_stop: liftingOfAgents,
  // Policy gives labels, and whoever may write clears them, but for its own agents.
  labels: { asWide: false, own: 'own_agent', ownerOnly: false },
  policy_document: { asWide: true, own: null, ownerOnly: false },
  approval: { asWide: false, own: 'own_approval', ownerOnly: false },
  // A rule says that nobody decides about an agent of their own.
  approval_by_others: { asWide: false, own: 'own_approval', strict: true, ownerOnly: false },
  // Applies to a charge that would pass the cap.
  cap: { asWide: true, own: null, ownerOnly: false },
  invite: { asWide: true, own: null, ownerOnly: false },
  owner_account: { asWide: false, own: null, ownerOnly: true },
};

/** The facts about a caller that the rules look at. */
export interface Standing {
  readonly width: Width;
  /** Its credential has the scope `admin`. */
  readonly isAdmin: boolean;
  /** It is logged in with an account that is an owner. */
  readonly isOwner: boolean;
  /** Its credential registered the agent in question, or comes from one that did. */
  readonly isOwn: boolean;
}

/** Why a caller may not lift, change or decide what a credential of width `imposed` imposed. Null if it may. */
export function refusalOf(subject: Subject, caller: Standing, imposed: Width): Refusal | null {
  const { asWide, own, strict = false, ownerOnly } = authority[subject];
  if (ownerOnly && !caller.isOwner) return 'owner_required';
  const isExempt = !strict && caller.width === 'unbound' && caller.isAdmin;
  if (own !== null && caller.isOwn && !isExempt) return own;
  return asWide && !isAtLeastAsWide(caller.width, imposed) ? 'imposed_by_wider' : null;
}

/** Whether a credential may change, roll back or delete a document whose widest writer had this width. */
export function mayChangeDocument(by: Binding, widestWriter: Width): boolean {
  const caller = { width: widthOf(by), isAdmin: true, isOwner: false, isOwn: false };
  return refusalOf('policy_document', caller, widestWriter) === null;
}
