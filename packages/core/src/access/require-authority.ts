import { ReeveError } from '../kernel/index.ts';
import type { Refusal, Standing, Subject, Width } from './authority.ts';
import { refusalOf, widthOf } from './authority.ts';
import type { Descents } from './credential-lineage.ts';
import { isOfLineageOfAny } from './credential-lineage.ts';
import type { Principal } from './principal.ts';
import { covers } from './principal.ts';

/** Who registered the agent in question, if there is one. */
export interface Registered {
  readonly registrars: readonly string[];
}

const noAgent: Registered = { registrars: [] };

export function standingOf(keys: Descents, by: Principal, { registrars }: Registered = noAgent): Standing {
  return {
    width: widthOf(by),
    isAdmin: covers(by.scopes, 'admin'),
    isOwner: by.login?.role === 'owner',
    isOwn: isOfLineageOfAny(keys, by.credentialId, registrars),
  };
}

/** Refuses a caller that may not lift, change or decide the subject. */
export function requireAuthority(caller: Standing, subject: Subject, imposed: Width = 'team'): void {
  const refusal = refusalOf(subject, caller, imposed);
  if (refusal === null) return;
  const facts = refusal === 'imposed_by_wider' ? { imposed_by: imposed } : {};
  throw new ReeveError(refusal, explain(refusal, caller.width, imposed), facts);
}

const bound: Readonly<Record<Width, string>> = {
  unbound: 'bound to no org',
  org: 'bound to an org',
  team: 'bound to a team',
};

function explain(refusal: Refusal, width: Width, imposed: Width): string {
  switch (refusal) {
    case 'imposed_by_wider':
      return `this was imposed with a credential that is ${bound[imposed]}; one that is ${bound[width]} cannot lift it`;
    case 'own_agent':
      return 'the agent was registered with this credential, or with one that it comes from; somebody else must resume it';
    case 'own_approval':
      return 'the agent was registered with this credential, or with one that it comes from; a verdict must come from somebody else';
    case 'owner_required':
      return 'only an owner may make, change, invite or disable an owner; an API key is never one';
  }
}
