import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { accountJson } from './accounts.ts';
import {
  alsoOneOf,
  apiKeyJson,
  createdKeyJson,
  id,
  idFilter,
  idPath,
  listOf,
  paging,
  scope,
  timestamp,
} from '../schemas.ts';

const revoke = {
  method: 'POST',
  tag: 'API keys',
  summary: 'Revoke an API key. It and every token made from it stop at once; revoking again changes nothing.',
  access: 'admin',
  tenancy: 'own',
  params: idPath,
  success: { status: 200, description: 'The record of the revoked key.', body: apiKeyJson },
  problems: ['key_not_found'],
} as const;

/** Credentials of machines: API keys, tokens and the keys that verify them. */
export const accessRoutes = {
  jwks: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    tag: 'Authentication',
    summary: 'The public keys that verify JWTs of this gateway.',
    access: 'public',
    tenancy: 'none',
    success: {
      status: 200,
      description: 'A JSON Web Key Set.',
      body: z.object({ keys: z.array(z.record(z.string(), z.unknown())) }),
    },
    problems: ['store_unavailable'],
  },
  authMethods: {
    method: 'GET',
    path: '/api/v1/auth/methods',
    tag: 'Authentication',
    summary: 'The ways to log in.',
    access: 'public',
    tenancy: 'none',
    success: {
      status: 200,
      description:
        'Always "api_key"; with an account store also "password", unless passwords are off, and "oidc" if single sign-on is configured.',
      body: z.object({ methods: z.array(z.enum(['api_key', 'password', 'oidc'])) }),
    },
    problems: [],
  },
  exchangeToken: {
    method: 'POST',
    path: '/api/v1/auth/token',
    tag: 'Authentication',
    summary: 'Exchange an API key for a JWT with the same or fewer scopes.',
    access: 'api_key',
    tenancy: 'none',
    body: z.strictObject({ scopes: z.array(scope).min(1).max(bounds.scopes).optional() }),
    success: {
      status: 200,
      description: 'The token. "expires_at" is in Unix seconds.',
      body: z.object({ token: z.string(), expires_at: z.int(), scopes: z.array(scope) }),
    },
    problems: ['insufficient_scope'],
  },
  me: {
    method: 'GET',
    path: '/api/v1/auth/me',
    tag: 'Authentication',
    summary: 'Who the credential is, and what it may do.',
    access: 'any',
    tenancy: 'own',
    success: {
      status: 200,
      description: 'The caller.',
      body: z.object({
        kind: z.enum(['api_key', 'account']),
        scopes: z.array(scope),
        org_id: z.string().nullable(),
        team_id: z.string().nullable(),
        key: z.object({ id: z.string(), label: z.string(), expires_at: timestamp.nullable() }).optional(),
        account: accountJson.optional(),
      }),
    },
    problems: [],
  },
  wsTicket: {
    method: 'POST',
    path: '/api/v1/auth/ws-ticket',
    tag: 'Authentication',
    summary: 'A ticket that opens one event stream within 30 seconds. It keeps tokens out of URLs.',
    access: 'read',
    tenancy: 'own',
    success: { status: 201, description: 'The ticket.', body: z.object({ ticket: z.string(), expires_at: timestamp }) },
    problems: [],
  },
  listApiKeys: {
    method: 'GET',
    path: '/api/v1/iam/api-keys',
    tag: 'API keys',
    summary: 'The API keys, newest first. Revoked ones stay listed.',
    access: 'admin',
    tenancy: 'own',
    query: z.object({ ...paging, org_id: idFilter }),
    success: { status: 200, description: 'A page.', body: listOf(apiKeyJson) },
    problems: [],
  },
  createApiKey: {
    method: 'POST',
    path: '/api/v1/iam/api-keys',
    tag: 'API keys',
    summary: 'Make an API key. Only this answer contains the key itself.',
    access: 'admin',
    tenancy: 'own',
    body: z
      .strictObject({
        label: z.string().max(bounds.label).regex(/\S/, 'must not be blank').trim(),
        scopes: z.array(scope).min(1).max(bounds.scopes),
        org_id: id.nullish(),
        team_id: id.nullish(),
        ttl_secs: z.int().min(1).max(315_360_000).nullish(),
      })
      // A team belongs to an org. The caller's tenant decides first, so this is checked with it.
      .meta(
        alsoOneOf([
          { properties: { team_id: { type: 'null' } } },
          { properties: { org_id: { type: 'string' } }, required: ['org_id'] },
        ]),
      ),
    success: { status: 201, description: 'The key and its record.', body: createdKeyJson },
    problems: ['tenant_bound'],
  },
  rotateApiKey: {
    method: 'POST',
    path: '/api/v1/iam/api-keys/{id}/rotate',
    tag: 'API keys',
    summary: 'Make a key with the same grant and revoke the old one.',
    access: 'admin',
    tenancy: 'own',
    params: idPath,
    success: { status: 201, description: 'The new key and its record.', body: createdKeyJson },
    problems: ['key_not_found', 'key_revoked'],
  },
  revokeApiKey: { ...revoke, path: '/api/v1/iam/api-keys/{id}/revoke' },
  revokeApiKeyUnversioned: { ...revoke, path: '/iam/api-keys/{id}/revoke' },
  rotateSigningKey: {
    method: 'POST',
    path: '/api/v1/iam/signing-keys/rotate',
    tag: 'Authentication',
    summary: 'Sign new tokens with a new key. Issued tokens stay valid until they expire.',
    access: 'admin',
    tenancy: 'unbound',
    success: {
      status: 201,
      description: 'The new key.',
      body: z.object({ kid: z.string(), created_at: timestamp }),
    },
    problems: [],
  },
} as const satisfies Record<string, Route>;
