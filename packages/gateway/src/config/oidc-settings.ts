import { issuer, oidcScopes, roleInTenant, roleRules } from './oidc-parsers.ts';
import { anyText, choice, flag } from './parsers.ts';
import { optional, required } from './setting.ts';

/** How people sign in: by a provider of OpenID Connect, by passwords, or both. */
export const oidcSettings = {
  oidcIssuer: optional(
    'oidc_issuer',
    issuer,
    'The provider of a single sign-on by OpenID Connect, as its discovery document names it. https, or http on loopback. Needs SVC_OIDC_CLIENT_ID.',
  ),
  oidcClientId: optional('oidc_client_id', anyText, 'The client that the provider knows this gateway as.'),
  oidcClientSecret: optional(
    'oidc_client_secret',
    anyText,
    'Its secret; leave it out for a public client, which PKCE alone protects.',
    { secret: true },
  ),
  oidcScopes: required(
    'oidc_scopes',
    'openid email profile',
    oidcScopes,
    'What the gateway asks of the provider, separated by spaces.',
  ),
  oidcRoleClaim: required(
    'oidc_role_claim',
    'groups',
    anyText,
    'The claim that says who gets which role. Dots lead into objects, as in realm_access.roles.',
  ),
  oidcRoles: optional(
    'oidc_roles',
    roleRules,
    'Who gets which role: <value>=<role>[@org[/team]], separated by commas. The first that matches counts.',
  ),
  oidcDefaultRole: optional(
    'oidc_default_role',
    roleInTenant,
    'The role of people whom SVC_OIDC_ROLES does not name, as <role>[@org[/team]]. Unset: they cannot log in.',
  ),
  oidcLinkByEmail: required(
    'oidc_link_by_email',
    'false',
    flag,
    'Whether an account with the same email becomes the account of a person whose email the provider has verified.',
  ),
  authPassword: required(
    'auth_password',
    'on',
    choice('on', 'off'),
    'Whether people may log in with a password. off: single sign-on and API keys alone.',
  ),
};
