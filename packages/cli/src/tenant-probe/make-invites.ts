import { isObject } from '../is-object.ts';
import { codeOf, succeeded, valueOf } from './caller.ts';
import { isSwitchedOff } from './switched-off.ts';
import type { CanarySetup } from './canary-setup.ts';
import { canaryEmail, randomText } from './canary-setup.ts';

/** Invites somebody into the tenant of an admin's key, and returns the id of the invite. */
export async function makeInvite({ caller, made }: CanarySetup, name: string, bearer: string): Promise<string> {
  const body = { email: canaryEmail(name), role: 'viewer' as const };
  const answer = await caller.callRoute('createInvite', bearer, { body });
  const id = succeeded(answer) ? inviteIn(valueOf(answer)) : undefined;
  if (id !== undefined) {
    made.invites.add(id);
    return id;
  }
  // Nobody is invited here, or, by an older release, not by tenants. The invite of this id does not exist.
  const isNobody = isSwitchedOff(answer) || answer.status === 404 || codeOf(answer) === 'tenant_bound';
  if (isNobody) return `inv_${randomText(24, '0123456789abcdef')}`;
  throw new Error(`cannot invite somebody into a canary: ${answer.status} ${answer.text}`);
}

/** The id of a new invite in an answer. */
export function inviteIn(body: unknown): string | undefined {
  const invite = isObject(body) ? body['invite'] : undefined;
  return isObject(invite) && typeof invite['id'] === 'string' ? invite['id'] : undefined;
}
