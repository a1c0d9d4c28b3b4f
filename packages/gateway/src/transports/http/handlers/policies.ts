import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { Policies, PlacedPolicy, StoredVersion } from '@reeve/core';
import {
  deletePolicy,
  describeScope,
  findPolicy,
  listPolicies,
  policySchema,
  policyVersions,
  putPolicy,
  rollbackPolicy,
  rulesIn,
  timestamp,
} from '@reeve/core';
import { cursorAfter, cursorOf, idOf, placeOf } from '../cursor.ts';
import { fitting } from '../fitting.ts';
import type { Handlers } from '../handler.ts';
import { HeadedAnswer, RawAnswer } from '../handler.ts';
import type { PolicyEvaluator } from '../../../evaluation/policy-evaluator.ts';
import { timeOrNull } from '../present.ts';

type PolicyRoutes =
  | 'listPolicies'
  | 'policySchema'
  | 'getPolicy'
  | 'putPolicy'
  | 'deletePolicy'
  | 'policyVersions'
  | 'rollbackPolicy'
  | 'validatePolicy';

export function policyHandlers(gov: Policies, evaluator: PolicyEvaluator): Pick<Handlers, PolicyRoutes> {
  const schema = JSON.stringify(policySchema());
  return {
    listPolicies: ({ query }, { principal }) => {
      const all = listPolicies(gov, principal, query.org_id);
      const after = idOf(query.cursor);
      const rest = after === undefined ? all : all.filter(({ document }) => document.name > after);
      const items = fitting(rest.slice(0, query.per_page), (policy) => policyJson(policy, principal.orgId === null));
      const last = rest.length > items.length ? (rest[items.length - 1]?.document.name ?? null) : null;
      return {
        items,
        next_cursor: cursorAfter(last),
        total: all.length,
        policy_version: gov.policies.version,
      };
    },
    policySchema: () => new RawAnswer('application/json', schema),
    getPolicy: ({ params }, { principal }) =>
      policyTextJson(findPolicy(gov, principal, params.name), principal.orgId === null),
    putPolicy: async ({ params, body }, { principal }) => {
      const { source, note, base_version: baseVersion } = body;
      const put = await putPolicy(gov, principal, { name: params.name, source, note, baseVersion });
      return policyTextJson(put, principal.orgId === null);
    },
    deletePolicy: async ({ params }, { principal }) => {
      await deletePolicy(gov, principal, params.name);
      return new HeadedAnswer(undefined);
    },
    policyVersions: async ({ params, query }, { principal }) => {
      const page = { before: placeOf(query.cursor), limit: query.per_page };
      const { versions, next, total, current } = await policyVersions(gov, principal, params.name, page);
      const items = fitting(versions, (version) => versionJson(version, current));
      const goesOn = items.length < versions.length ? (versions[items.length - 1]?.version ?? next) : next;
      return { items, next_cursor: cursorOf(goesOn), total };
    },
    rollbackPolicy: async ({ params, body }, { principal }) =>
      policyTextJson(
        await rollbackPolicy(gov, principal, { name: params.name, version: body.version, note: body.note }),
        principal.orgId === null,
      ),
    validatePolicy: async ({ body: { source, name } }, { principal }) => {
      const errors = await evaluator.validate(principal, { source, name });
      return { valid: errors.length === 0, errors: [...errors] };
    },
  };
}

/** Only callers who see the whole gateway learn where a file lies. */
function policyJson({ document, file, saved }: PlacedPolicy, withFile: boolean) {
  return {
    name: document.name,
    scope: describeScope(document.scope),
    mode: document.mode ?? ('enforce' as const),
    default: document.default ?? null,
    rules: rulesIn(document),
    has_budget: document.budget !== undefined,
    has_pricing: document.pricing !== undefined,
    origin: saved === null ? ('file' as const) : ('store' as const),
    file: withFile ? file : null,
    version: saved?.version ?? null,
    updated_at: timeOrNull(saved?.savedAt ?? null),
    updated_by: saved?.savedBy ?? null,
    width: saved?.width ?? null,
  };
}

function policyTextJson(policy: PlacedPolicy, withFile: boolean): RouteOutput<Routes['getPolicy']> {
  return { ...policyJson(policy, withFile), source: policy.text };
}

function versionJson({ version, savedAt, savedBy, source, note }: StoredVersion, current: number | null) {
  return { version, saved_at: timestamp(savedAt), saved_by: savedBy, source, note, current: version === current };
}
