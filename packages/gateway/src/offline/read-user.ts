import type { Member, User } from '@reeve/core';
import { userFrom } from '@reeve/core';
import type { Document } from 'yaml';
import type { CaseYaml } from './case-yaml.ts';

const userKeys = ['issuer', 'sub', 'email', 'groups', 'claims'] as const;

/** Reads the `user` of a case: for whom the agent acts. What is not said is as if the token did not say it. */
export function readUser(yaml: CaseYaml, document: Document.Parsed, member: Member | undefined): User | null {
  if (member === undefined) return null;
  const { issuer, sub, email, groups, claims } = yaml.known(document, member.value, '"user"', userKeys);
  const items = groups === undefined ? undefined : (yaml.items(document, groups.value, '"groups"') ?? []);
  const said = claims === undefined ? {} : yaml.jsonOf(document, claims);
  const isMap = typeof said === 'object' && said !== null && !Array.isArray(said);
  if (!isMap) yaml.complain(claims?.value, '"claims" must be a map');
  return userFrom({
    issuer: issuer === undefined ? undefined : yaml.textOf(issuer),
    sub: sub === undefined ? undefined : yaml.textOf(sub),
    email: email === undefined ? undefined : yaml.textOf(email),
    groups: items?.map((item) => yaml.text(item, 'a group') ?? ''),
    claims: isMap ? (said as User['claims']) : {},
  });
}
