import type { Answer } from '../../api/send.ts';

export type Member = Answer<'listAccounts'>['items'][number];
export type Role = Member['role'];

export const roles: readonly { readonly value: Role; readonly label: string; readonly may: string }[] = [
  { value: 'owner', label: 'Owner', may: 'Everything, and makes other owners.' },
  { value: 'admin', label: 'Admin', may: 'Everything but changing owners: read, write and admin.' },
  { value: 'developer', label: 'Developer', may: 'Sees and controls operations: read and write.' },
  { value: 'viewer', label: 'Viewer', may: 'Sees everything and changes nothing: read.' },
];

/** The roles that a person may assign. Only an owner makes owners. An API key acts as an admin. */
export function givenRoles(isOwner: boolean): typeof roles {
  return roles.filter(({ value }) => isOwner || value !== 'owner');
}

/** Why this person may not change a member, in words. Undefined if nothing prevents it. */
export function whyFixed(member: Member, members: readonly Member[], isOwner: boolean): string | undefined {
  if (member.role !== 'owner') return undefined;
  if (!isOwner) return 'Only an owner changes an owner.';
  return isLastOwner(member, members) ? 'The last owner stays: make somebody else an owner first.' : undefined;
}

function isLastOwner({ id, status }: Member, members: readonly Member[]): boolean {
  return (
    status === 'active' &&
    !members.some((other) => other.id !== id && other.role === 'owner' && other.status === 'active')
  );
}

/** The display name of a member. */
export function nameOf({ name, email }: Pick<Member, 'name' | 'email'>): string {
  return name === '' ? email : name;
}

export function foundMembers(members: readonly Member[], q: string | undefined): readonly Member[] {
  const sought = q?.trim().toLowerCase() ?? '';
  return members.filter(({ name, email, role }) => `${name} ${email} ${role}`.toLowerCase().includes(sought));
}
