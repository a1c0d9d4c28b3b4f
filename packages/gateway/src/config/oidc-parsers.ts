import { isSecureUrl } from '@reeve/contract/host-name';
import type { HeldRole, RoleRule } from '@reeve/core';
import { isId, roles } from '@reeve/core';

/** The URL of a provider. Whoever can change what it answers can be anybody here, so plain http stays on this machine. */
export function issuer(text: string): string {
  const url = URL.parse(text);
  const accepted = 'an https:// URL, or http:// on loopback, without user name, query or fragment';
  if (url === null || /[?#\s]/.test(text) || url.username !== '' || url.password !== '') throw new Error(accepted);
  if (!isSecureUrl(url)) throw new Error(accepted);
  return text;
}

export function oidcScopes(text: string): string {
  const scopes = text.split(/\s+/).filter((scope) => scope !== '');
  if (!scopes.includes('openid') || !scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) {
    throw new Error('scopes separated by spaces, openid among them');
  }
  return scopes.join(' ');
}

const ruleForm = '<value>=<role>[@org[/team]] separated by commas, as in admins=admin, acme-dev=developer@acme/core';
const roleForm = `a role (${roles.join(', ')}), with @org or @org/team if it holds in a tenant`;

export function roleRules(text: string): readonly RoleRule[] {
  return text.split(',').map((part) => {
    const rule = part.trim();
    // The value comes from the provider and may hold any character but a comma.
    const at = rule.lastIndexOf('=');
    if (at < 1) throw new Error(ruleForm);
    return { ...roleInTenant(rule.slice(at + 1)), value: rule.slice(0, at).trim() };
  });
}

export function roleInTenant(text: string): HeldRole {
  const match = /^(?<name>[a-z]+)(?:@(?<org>[^/@]+)(?:\/(?<team>[^/@]+))?)?$/.exec(text.trim());
  const { name, org, team } = match?.groups ?? {};
  const role = roles.find((known) => known === name);
  const isTenant = [org, team].every((id) => id === undefined || isId(id));
  if (role === undefined || !isTenant) throw new Error(`${ruleForm}; a role is ${roleForm}`);
  return { role, orgId: org ?? null, teamId: team ?? null };
}
