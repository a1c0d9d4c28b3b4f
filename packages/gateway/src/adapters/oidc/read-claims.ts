import type { OidcPerson } from '@reeve/core';

export type Claims = Readonly<Record<string, unknown>>;

const longest = { name: 512, email: 1024, value: 1024 };
const mostValues = 1000;

/** Whether userinfo may know what the ID token does not say. */
export function isIncomplete(claims: Claims, roleClaim: string): boolean {
  return [claims['email'], claims['email_verified'], claims['name'], valueAt(claims, roleClaim)].includes(undefined);
}

/** What the provider says of a person. The ID token counts before userinfo. */
export function readClaims(token: Claims, userinfo: Claims, roleClaim: string): Omit<OidcPerson, 'issuer' | 'subject'> {
  const email = text(token['email'] ?? userinfo['email'], longest.email);
  return {
    email,
    isEmailVerified: email !== null && isVerified(token, userinfo, email),
    name: text(token['name'] ?? userinfo['name'], longest.name) ?? '',
    roleValues: valuesOf(valueAt(token, roleClaim) ?? valueAt(userinfo, roleClaim)),
  };
}

/** A verification counts only for the very email that it came with. */
function isVerified(token: Claims, userinfo: Claims, email: string): boolean {
  const about = [token, userinfo].find((claims) => {
    return claims['email_verified'] !== undefined && text(claims['email'], longest.email) === email;
  });
  // Some providers write it as a text.
  return [true, 'true'].includes(about?.['email_verified'] as never);
}

function text(value: unknown, most: number): string | null {
  return typeof value === 'string' && value.length <= most && value !== '' ? value : null;
}

/** The claim of this name, else the one that its dots lead to. */
function valueAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** One value, or a list of them. */
function valuesOf(claim: unknown): string[] {
  const all: unknown[] = Array.isArray(claim) ? claim.slice(0, mostValues) : [claim];
  return all.filter((value) => typeof value === 'string' && value.length <= longest.value) as string[];
}
