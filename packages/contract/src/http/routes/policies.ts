import { z } from 'zod';
import { bounds } from '../../bounds.ts';
import type { Route } from '../route.ts';
import { actorJson, idFilter, listOf, paging, timestamp } from '../schemas.ts';

/** A tenant's document is `<org>/<name>` or `<org>/<team>/<name>`, percent-encoded. Its author may omit the prefix. */
const name = z.object({ name: z.string().min(1).max(bounds.documentName) });
const newName = z.object({
  name: z
    .string()
    .max(bounds.documentName)
    .regex(
      // Documents of a tenant are put by the name that they have. Another name has no "/".
      /^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,127}\/){0,2}[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
      'must be 1 to 128 letters, digits, ".", "_" or "-"; of a document that a tenant made with its org, or org and team, before it',
    ),
});
const source = z.string().max(bounds.policySource);

const policyJson = z.object({
  name: z.string(),
  /** `global`, `org:<id>`, `team:<org>/<team>` or `agent:<org>/<team>/<agent>`. */
  scope: z.string(),
  mode: z.enum(['enforce', 'observe']),
  default: z.enum(['allow', 'deny']).nullable(),
  rules: z.int(),
  has_budget: z.boolean(),
  has_pricing: z.boolean(),
  /** `file`: the document comes from a file of the gateway, and only the file can change it. `store`: it is stored. */
  origin: z.enum(['file', 'store']),
  file: z.string().nullable(),
  /** For a stored document: how often it was put, when and by whom. */
  version: z.int().nullable(),
  updated_at: timestamp.nullable(),
  updated_by: actorJson.nullable(),
  /** For a stored document: the width needed to change it. The widest credential that ever changed it sets this. */
  width: z.enum(['unbound', 'org', 'team']).nullable(),
});

const policyTextJson = policyJson.extend({ source: z.string() });

const versionJson = z.object({
  version: z.int(),
  saved_at: timestamp,
  saved_by: actorJson,
  /** Null if this version removed the document. */
  source: z.string().nullable(),
  note: z.string(),
  /** Whether this version is in force. */
  current: z.boolean(),
});

const policyProblemJson = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
});

/** Policies: what is in force, what was, and what would be. */
export const policyRoutes = {
  listPolicies: {
    method: 'GET',
    path: '/api/v1/policies',
    tag: 'Policies',
    summary: 'The documents in force, from files and the store, by name.',
    access: 'read',
    tenancy: 'own',
    query: z.object({ ...paging, org_id: idFilter }),
    success: {
      status: 200,
      description: 'A page, and the version of the whole set, as answers and the audit log name it.',
      body: listOf(policyJson).extend({ policy_version: z.string() }),
    },
    problems: [],
  },
  policySchema: {
    method: 'GET',
    path: '/api/v1/policy-schema',
    tag: 'Policies',
    summary: 'The JSON Schema of a policy document, for editors.',
    access: 'public',
    tenancy: 'none',
    success: { status: 200, description: 'A JSON Schema.', body: z.record(z.string(), z.unknown()) },
    problems: [],
  },
  getPolicy: {
    method: 'GET',
    path: '/api/v1/policies/{name}',
    tag: 'Policies',
    summary: 'One document, with its text.',
    access: 'read',
    tenancy: 'own',
    params: name,
    success: { status: 200, description: 'The document.', body: policyTextJson },
    problems: ['policy_not_found'],
  },
  putPolicy: {
    method: 'PUT',
    path: '/api/v1/policies/{name}',
    tag: 'Policies',
    summary: 'Store a document, as its next version, and put it in force at once.',
    access: 'admin',
    tenancy: 'own',
    params: newName,
    body: z.strictObject({
      source,
      note: z.string().max(bounds.note).default(''),
      /** The edited version. If another was stored since, nothing changes. 0: there was none. */
      base_version: z.int().min(0).optional(),
    }),
    success: { status: 200, description: 'The document as it is in force now.', body: policyTextJson },
    problems: [
      'policy_invalid',
      'policy_not_found',
      'policy_in_file',
      'policy_changed',
      'tenant_bound',
      'imposed_by_wider',
      'too_expensive',
      'overloaded',
    ],
  },
  deletePolicy: {
    method: 'DELETE',
    path: '/api/v1/policies/{name}',
    tag: 'Policies',
    summary: 'Take a stored document out of force. Its versions stay, and you can roll back to them.',
    access: 'admin',
    tenancy: 'own',
    params: name,
    success: { status: 204, description: 'It is out of force.' },
    problems: ['policy_not_found', 'policy_in_file', 'policy_invalid', 'tenant_bound', 'imposed_by_wider'],
  },
  policyVersions: {
    method: 'GET',
    path: '/api/v1/policies/{name}/versions',
    tag: 'Policies',
    summary: 'All versions of a stored document, newest first.',
    access: 'read',
    tenancy: 'own',
    params: name,
    query: z.object(paging),
    success: { status: 200, description: 'A page.', body: listOf(versionJson) },
    problems: ['policy_not_found'],
  },
  rollbackPolicy: {
    method: 'POST',
    path: '/api/v1/policies/{name}/rollback',
    tag: 'Policies',
    summary: 'Put an earlier version in force again, as a new version.',
    access: 'admin',
    tenancy: 'own',
    params: name,
    body: z.strictObject({ version: z.int().min(1), note: z.string().max(bounds.note).default('') }),
    success: { status: 200, description: 'The document as it is in force now.', body: policyTextJson },
    problems: [
      'policy_not_found',
      'policy_version_not_found',
      'policy_invalid',
      'policy_in_file',
      'tenant_bound',
      'imposed_by_wider',
      'too_expensive',
      'overloaded',
    ],
  },
  validatePolicy: {
    method: 'POST',
    path: '/api/v1/policies/validate',
    tag: 'Policies',
    summary: 'Check the text of documents, together with those in force, without storing it.',
    access: 'read',
    tenancy: 'own',
    body: z.strictObject({ source, name: z.string().max(bounds.documentName).optional() }),
    success: {
      status: 200,
      description: 'The errors, if there are any.',
      body: z.object({ valid: z.boolean(), errors: z.array(policyProblemJson) }),
    },
    problems: ['too_expensive', 'overloaded'],
  },
} as const satisfies Record<string, Route>;
