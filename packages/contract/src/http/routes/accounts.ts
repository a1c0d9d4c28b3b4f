import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { alsoOneOf, id, idPath, listOf, paging, timestamp } from '../schemas.ts';

export const role = z.enum(['owner', 'admin', 'developer', 'viewer']);
const accountStatus = z.enum(['active', 'disabled']);

export const accountJson = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role,
  status: accountStatus,
  created_at: timestamp,
});

const listedAccountJson = accountJson.extend({
  last_login_at: timestamp.nullable(),
  /** The tenant that an invite, or the provider of a single sign-on, binds the account to. */
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  has_password: z.boolean(),
});

const sessionJson = z.object({
  id: z.string(),
  current: z.boolean(),
  via: z.enum(['password', 'oidc']),
  remember_me: z.boolean(),
  created_at: timestamp,
  last_used_at: timestamp,
  expires_at: timestamp,
  address: z.string(),
  user_agent: z.string(),
});

const inviteJson = z.object({
  id: z.string(),
  email: z.string(),
  role,
  /** The tenant that the account will be bound to. */
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  expires_at: timestamp,
});
const listedInviteJson = inviteJson.extend({ invited_by: z.string(), created_at: timestamp });

export const grantJson = z.object({ account: accountJson, access_token: z.string(), expires_in: z.int() });

/**
 * A deliverable email address, with surrounding space kept: at most 254 characters, 64 of them before the `@`, and
 * labels of at most 63 letters, digits and hyphens after it.
 */
const letter = '[\\p{L}\\p{N}\\p{M}]';
const label = `${letter}(?:[\\p{L}\\p{N}\\p{M}-]{0,61}${letter})?`;
const emailPattern = `^\\s*(?=\\S{3,254}\\s*$)[^\\s@"(),:;<>[\\\\\\]\\p{Cc}\\p{Cf}\\p{Cs}]{1,64}@${label}(?:\\.${label})*\\s*$`;

/** A schema does not judge passwords and tokens. The answer is the same for any length. */
const anyText = z.string().max(bounds.body);
/** The handler judges the email, after the checks that must come first. */
const email = z.string().max(bounds.email).meta({ format: 'idn-email', pattern: emailPattern });
const password = anyText;
/** The handler judges it. A character may be spelled by up to four code points. */
const newPassword = anyText.meta({ minLength: bounds.password.least, maxLength: 4 * bounds.password.most });
const name = z.string().max(bounds.name).trim().optional();
const token = anyText;

/** Common to routes for people: without an account store they answer 503 and nothing else. */
const people = { tag: 'Accounts', accounts: true } as const;

/** Open to anyone, so limited more strictly than other routes. */
const anyone = { ...people, access: 'public', tenancy: 'none', limit: 'auth' } as const;

/** For the caller's own account. */
const oneself = { ...people, access: 'any', tenancy: 'person' } as const;

const administration = { ...people, access: 'admin', tenancy: 'unbound' } as const;

/** A tenant's admin invites into its tenant, and sees the invites into it. */
const inviting = { ...people, access: 'admin', tenancy: 'own' } as const;

const madeInvite = {
  status: 201,
  description: 'The invite, and its token. Only this answer contains the token.',
  body: z.object({ invite: inviteJson, token: z.string() }),
} as const;

/** Native accounts: people who log in with email and password. */
export const accountRoutes = {
  register: {
    ...anyone,
    method: 'POST',
    path: '/api/v1/auth/register',
    summary: 'Register the first account, which becomes the owner, or any account if registration is open.',
    cookie: true,
    body: z.strictObject({ email, password: newPassword, name }),
    success: { status: 201, description: 'The account, logged in.', body: grantJson },
    problems: ['password_off', 'weak_password', 'registration_closed', 'email_taken', 'overloaded'],
  },
  logIn: {
    ...anyone,
    method: 'POST',
    path: '/api/v1/auth/login',
    summary: 'Log in with email and password.',
    cookie: true,
    body: z.strictObject({ email, password, remember_me: z.boolean().optional() }),
    success: { status: 200, description: 'An access token; the refresh token is in the cookie.', body: grantJson },
    problems: ['password_off', 'wrong_credentials', 'account_locked', 'overloaded'],
  },
  refreshSession: {
    ...people,
    access: 'public',
    tenancy: 'none',
    method: 'POST',
    path: '/api/v1/auth/refresh',
    summary: 'Exchange the refresh cookie for the next one and an access token. Each cookie works once.',
    cookie: true,
    success: { status: 200, description: 'An access token; the next refresh token is in the cookie.', body: grantJson },
    problems: ['session_ended', 'refresh_raced'],
  },
  logOut: {
    ...people,
    access: 'public',
    tenancy: 'none',
    method: 'POST',
    path: '/api/v1/auth/logout',
    summary:
      'End the session of the refresh cookie and clear the cookie. The header Reeve-End-Session of the answer says where the session at the provider of a single sign-on ends.',
    cookie: true,
    success: { status: 204, description: 'The session has ended.' },
    problems: [],
  },
  createInvite: {
    ...inviting,
    method: 'POST',
    path: '/api/v1/auth/invite',
    summary: 'Invite someone. An open invite to the same email is replaced.',
    body: z
      .strictObject({ email, role: role.default('developer'), org_id: id.nullish(), team_id: id.nullish() })
      // A team belongs to an org, and an owner to none. A tenant's credential has its own org.
      .meta(
        alsoOneOf([
          { properties: { org_id: { type: 'null' }, team_id: { type: 'null' } } },
          {
            properties: { org_id: { type: 'string' }, role: { enum: ['admin', 'developer', 'viewer'] } },
            required: ['org_id'],
          },
        ]),
      ),
    success: madeInvite,
    problems: ['password_off', 'owner_required', 'email_taken', 'tenant_bound', 'imposed_by_wider'],
  },
  acceptInvite: {
    ...anyone,
    method: 'POST',
    path: '/api/v1/auth/invite/accept',
    summary: 'Accept an invite: choose a password, and be logged in.',
    cookie: true,
    body: z.strictObject({ token, password: newPassword, name }),
    success: { status: 201, description: 'The account, logged in.', body: grantJson },
    problems: ['password_off', 'weak_password', 'invalid_token', 'overloaded'],
  },
  listInvites: {
    ...inviting,
    method: 'GET',
    path: '/api/v1/auth/invites',
    summary: 'The open invites, newest first.',
    query: z.object(paging),
    success: { status: 200, description: 'A page.', body: listOf(listedInviteJson) },
    problems: [],
  },
  revokeInvite: {
    ...inviting,
    method: 'DELETE',
    path: '/api/v1/auth/invites/{id}',
    summary: 'Revoke an invite: its tokens stop working.',
    params: idPath,
    success: { status: 204, description: 'The invite is gone.' },
    problems: ['invite_not_found', 'owner_required', 'imposed_by_wider'],
  },
  resendInvite: {
    ...inviting,
    method: 'POST',
    path: '/api/v1/auth/invites/{id}/resend',
    summary: 'Send an invite again, under a new id, with a new token and a new time to live.',
    params: idPath,
    success: madeInvite,
    problems: ['password_off', 'invite_not_found', 'owner_required', 'tenant_bound', 'imposed_by_wider'],
  },
  requestReset: {
    ...anyone,
    method: 'POST',
    path: '/api/v1/auth/password/reset',
    summary: 'Ask for a letter with a link that resets the password. The answer is always the same.',
    body: z.strictObject({ email: anyText }),
    success: { status: 202, description: 'If there is such an account, a letter is on its way.' },
    problems: ['password_off'],
  },
  confirmReset: {
    ...anyone,
    method: 'POST',
    path: '/api/v1/auth/password/reset/confirm',
    summary: 'Set a new password by a reset token. All sessions of the account end.',
    body: z.strictObject({ token, password: newPassword }),
    success: { status: 204, description: 'The password is changed.' },
    problems: ['password_off', 'weak_password', 'invalid_token', 'overloaded'],
  },
  changePassword: {
    ...oneself,
    method: 'POST',
    path: '/api/v1/auth/password',
    summary: 'Change your own password. All of your sessions end, this one included.',
    cookie: true,
    body: z.strictObject({ current_password: password, password: newPassword }),
    success: { status: 204, description: 'The password is changed.' },
    problems: ['password_off', 'weak_password', 'wrong_password', 'account_locked', 'overloaded'],
  },
  listSessions: {
    ...oneself,
    method: 'GET',
    path: '/api/v1/auth/sessions',
    summary: 'Your own open sessions, newest first.',
    query: z.object(paging),
    success: { status: 200, description: 'A page.', body: listOf(sessionJson) },
    problems: [],
  },
  revokeSession: {
    ...oneself,
    method: 'DELETE',
    path: '/api/v1/auth/sessions/{id}',
    summary: 'End one of your own sessions. Its access tokens stop at once.',
    params: idPath,
    success: { status: 204, description: 'The session has ended.' },
    problems: ['session_not_found'],
  },
  listAccounts: {
    ...administration,
    method: 'GET',
    path: '/api/v1/accounts',
    summary: 'The accounts, oldest first.',
    query: z.object(paging),
    success: { status: 200, description: 'A page.', body: listOf(listedAccountJson) },
    problems: [],
  },
  changeAccount: {
    ...administration,
    method: 'PATCH',
    path: '/api/v1/accounts/{id}',
    summary: 'Change the role or the status of an account. Disabling ends its sessions.',
    params: idPath,
    body: z.strictObject({ role: role.optional(), status: accountStatus.optional() }),
    success: { status: 200, description: 'The account.', body: listedAccountJson },
    problems: ['account_not_found', 'owner_required', 'last_owner'],
  },
} as const satisfies Record<string, Route>;
