import type { HeldRole } from '../access/index.ts';

/** People with this value in their role claim get this role. */
export interface RoleRule extends HeldRole {
  readonly value: string;
}

/** How the people of a provider become accounts. */
export interface OidcRules {
  /** The first rule that matches counts. */
  readonly roles: readonly RoleRule[];
  /** The role of people whom no rule matches. Null: they cannot log in. */
  readonly defaultRole: HeldRole | null;
  /** Whether an account with the same email is linked, if the provider has verified the email. */
  readonly linkByEmail: boolean;
}

/** The role that the values of the role claim give. Undefined if they give none. */
export function roleFor({ roles, defaultRole }: OidcRules, values: readonly string[]): HeldRole | undefined {
  const { role, orgId, teamId } = roles.find(({ value }) => values.includes(value)) ?? defaultRole ?? {};
  return role && { role, orgId: orgId ?? null, teamId: teamId ?? null };
}
