import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { timestamp } from '../schemas.ts';
import { grantJson } from './accounts.ts';

const people = { tag: 'Single sign-on', accounts: true } as const;

/** A browser comes here by itself or from the provider, and leaves for another page. */
const browser = { ...people, access: 'public', tenancy: 'none', method: 'GET', redirects: true } as const;

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits')
  .meta({ maxLength: bounds.sha256 });
const secret = z.string().max(bounds.credentialToken);

/** Single sign-on by OpenID Connect, and the sessions of command lines that people let in by their browser. */
export const signOnRoutes = {
  startSignOn: {
    ...browser,
    path: '/api/v1/auth/oidc/start',
    summary: 'Begin a single sign-on: leads the browser to the provider, and binds what follows to it by a cookie.',
    query: z.object({ return_to: z.string().max(bounds.returnTo).optional() }),
    success: { status: 302, description: 'To the provider; after a failure that a person sees, to the sign-in page.' },
    problems: ['sign_on_off', 'sign_on_unavailable'],
  },
  finishSignOn: {
    ...browser,
    limit: 'auth',
    path: '/api/v1/auth/oidc/callback',
    summary: 'Where the provider sends the browser back to. Opens a session like that of a login with a password.',
    query: z.object({
      code: z.string().max(bounds.text).optional(),
      state: z.string().max(bounds.name).optional(),
      iss: z.string().max(bounds.returnTo).optional(),
      error: z.string().max(bounds.name).optional(),
    }),
    success: {
      status: 302,
      description: 'To a page of the dashboard; the refresh token is in the cookie. After a failure: the sign-in page.',
    },
    problems: [
      'sign_on_off',
      'sign_on_failed',
      'sign_on_unavailable',
      'no_role',
      'email_missing',
      'email_taken',
      'account_disabled',
      'overloaded',
    ],
  },
  makeCliCode: {
    ...people,
    access: 'any',
    tenancy: 'person',
    method: 'POST',
    path: '/api/v1/auth/cli/code',
    summary:
      'Let a command line in as yourself: a code that it exchanges for a session of its own within a minute. Takes the refresh cookie of the session, too.',
    cookie: true,
    body: z.strictObject({ challenge: sha256 }),
    success: { status: 201, description: 'The code.', body: z.object({ code: z.string(), expires_at: timestamp }) },
    problems: ['session_ended'],
  },
  openCliSession: {
    ...people,
    access: 'public',
    tenancy: 'none',
    limit: 'auth',
    method: 'POST',
    path: '/api/v1/auth/cli/session',
    summary: 'Exchange such a code for a session. Takes what the challenge is the SHA-256 of.',
    cookie: true,
    body: z.strictObject({ code: secret, verifier: secret }),
    success: { status: 201, description: 'The session; the refresh token is in the cookie.', body: grantJson },
    problems: ['invalid_token'],
  },
} as const satisfies Record<string, Route>;
