import { z } from 'zod';
import { doors, entrances, opStates, scopes } from '../names.ts';
import { bounds } from '../bounds.ts';

/** RFC 3339, UTC, milliseconds. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** An amount in US dollars: its digits, so that it never becomes a float. */
export const usd = z.string().regex(/^-?\d+\.\d{2,6}$/);

/** An amount that filters a list, as a person writes it. */
export const usdFilter = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be US dollars with at most 12 digits and 6 decimals, as "1.50"')
  .meta({ maxLength: 19, examples: ['1.50'] })
  .optional();

export const scope = z.enum(scopes);

/** An id of one of the three tiers of tenancy. */
export const id = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be 1 to 128 letters, digits, ".", "_" or "-"')
  .meta({ maxLength: bounds.id });

export const idOrEmpty = z.union([z.literal(''), id]);

/** An id that filters a list. A malformed id matches nothing. */
export const idFilter = z.string().max(bounds.id).optional();

export const runIdFilter = z.string().max(bounds.runId).optional();

/** A label of a run or an agent. */
export const label = z
  .string()
  .regex(/^[a-z0-9_.:-]{1,64}$/, 'must be 1 to 64 of a-z, 0-9, "_", ".", ":" and "-"')
  .meta({ maxLength: 64 });

/** The `sub` of a user, or the email in any letter case. */
export const userFilter = z.string().min(1).max(bounds.name).optional();

/** The id of a record that the gateway made. */
export const idPath = z.object({ id: z.string().max(bounds.id) });

/** Adds that one of the options must hold. Readers of the members alone still find them in their usual place. */
export const alsoOneOf = (options: readonly object[]) => ({ allOf: [{ anyOf: options }] });

/** Adds that none of these members, or sets of members, may be there. */
export const without = (...members: (string | readonly string[])[]) => ({
  not: { anyOf: members.map((each) => ({ required: [each].flat() })) },
});

/** Why a person does something. */
export const reason = z.string().max(bounds.text);

/** RFC 3339 with any offset, as callers write it. */
export const time = z.iso.datetime({ offset: true }).max(bounds.time);

/** An org or team in a path. `-` stands for an empty one. */
const idOrDash = z.union([z.literal('-'), id]);

export const agentPath = z.object({ org: idOrDash, team: idOrDash, agent: id });

export const teamPath = z.object({ org: idOrDash, team: idOrDash });

/** A whole number in a query, where everything is text. Other spellings, such as `1e3` and an empty text, are refused. */
export const wholeNumber = (minimum: number, maximum: number = Number.MAX_SAFE_INTEGER) =>
  z
    .preprocess(
      (given) => (typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : given),
      z.int(`must be a whole number from ${minimum} to ${maximum}, in digits`).min(minimum).max(maximum),
    )
    .meta({ type: 'integer', minimum, maximum });

export const perPage = wholeNumber(1, 1000).default(50);

export const paging = { per_page: perPage, cursor: z.string().max(bounds.cursor).optional() };

export const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable(), total: z.int() });

export const agentIdJson = z.object({ org_id: z.string(), team_id: z.string(), agent_id: z.string() });

export const actorJson = z.object({
  kind: z.enum(['agent', 'api_key', 'account', 'system', 'unauthenticated']),
  id: z.string(),
  label: z.string(),
});

/** For whom an agent acts, as an issuer of `SVC_SUBJECTS` vouches. The email is empty if there is none. */
export const userJson = z.object({ issuer: z.string(), sub: z.string(), email: z.string() });

export const apiKeyJson = z.object({
  id: z.string(),
  label: z.string(),
  scopes: z.array(scope),
  org_id: z.string().nullable(),
  team_id: z.string().nullable(),
  created_at: timestamp,
  expires_at: timestamp.nullable(),
  last_used_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
});

export const createdKeyJson = apiKeyJson.extend({ key: z.string() });

export const auditEntryJson = z.object({
  seq: z.int(),
  at: timestamp,
  event_type: z.string(),
  lineage: z.object({
    org_id: z.string().nullable(),
    team_id: z.string(),
    agent_id: z.string(),
    root_agent_id: z.string(),
    parent_agent_id: z.string().nullable(),
    depth: z.int(),
  }),
  actor: actorJson,
  op_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  span_id: z.string().nullable(),
  decision: z.enum(['allow', 'deny', 'pending']).nullable(),
  reason: z.string().nullable(),
  policy_rule: z.string().nullable(),
  policy_version: z.string().nullable(),
  payload: z.record(z.string(), z.unknown()),
  prev_hash: z.string(),
  hash: z.string(),
});

export const logFilters = {
  org_id: idFilter,
  team_id: idFilter,
  agent_id: idFilter,
  event_type: z.string().max(bounds.eventType).optional(),
  decision: z.enum(['allow', 'deny', 'pending']).optional(),
  op_id: z.string().max(bounds.opId).optional(),
  user: userFilter,
  from: time.optional(),
  to: time.optional(),
  q: z.string().min(1).max(bounds.searchText).optional(),
};

export const agentStatus = z.enum(['active', 'suspended']);

/** By which doors checks of an agent came. Times are to the minute. */
const doorUseJson = z.object({
  door: z.enum(entrances),
  first_used_at: timestamp,
  last_used_at: timestamp,
  /** The servers, upstreams or hosts behind the door: the newest 16. */
  names: z.array(z.string()),
});

/** On whose behalf an agent acts, within which limits, and what is used of them. */
export const delegationJson = z.object({
  by: agentIdJson,
  expires_at: timestamp,
  /** Empty: any. */
  actions: z.array(z.string()),
  /** Globs of tool names. Empty: any. */
  tools: z.array(z.string()),
  max_cost_usd: usd.nullable(),
  spent_usd: usd,
  max_checks: z.int().nullable(),
  checks: z.int(),
});

export const agentJson = agentIdJson.extend({
  name: z.string(),
  framework: z.string(),
  version: z.string(),
  status: agentStatus,
  suspended_reason: z.string().nullable(),
  /** What is suspended: the agent itself, or a scope that it is in. Null if nothing is. */
  suspended_by: z.enum(['agent', 'team', 'org', 'everything']).nullable(),
  parent: agentIdJson.nullable(),
  /** Null if the agent acts for nobody. */
  delegation: delegationJson.nullable(),
  depth: z.int(),
  metadata: z.record(z.string(), z.string()),
  tool_names: z.array(z.string()),
  registered_at: timestamp,
  last_seen_at: timestamp,
  in_flight: z.int(),
  /** Null if the spend is not known. */
  spent_today_usd: usd.nullable(),
  doors: z.array(doorUseJson),
  /** What was never checked, though the rest is. */
  uncovered: z.array(z.enum(['tools', 'model_calls'])),
});

export const topologyAgentJson = agentJson
  .pick({
    org_id: true,
    team_id: true,
    agent_id: true,
    name: true,
    framework: true,
    status: true,
    suspended_by: true,
    parent: true,
    delegation: true,
    depth: true,
    last_seen_at: true,
    in_flight: true,
    spent_today_usd: true,
    uncovered: true,
  })
  .extend({ doors: z.array(doorUseJson.omit({ names: true })) });

const totalsJson = z.object({ orgs: z.int(), teams: z.int(), agents: z.int(), in_flight: z.int() });

export const overviewJson = z.object({
  orgs: z.array(z.object({ org_id: z.string(), teams: z.int(), agents: z.int(), in_flight: z.int() })),
  teams: z.array(z.object({ org_id: z.string(), team_id: z.string(), agents: z.int(), in_flight: z.int() })),
  agents: z.array(topologyAgentJson),
  totals: totalsJson,
});

export interface TreeNode {
  agent: z.infer<typeof topologyAgentJson>;
  children: TreeNode[];
}

export const treeJson: z.ZodType<TreeNode> = z
  .object({
    agent: topologyAgentJson,
    get children() {
      return z.array(treeJson);
    },
  })
  .meta({ id: 'TopologyTree' });

export const statsJson = z.object({
  agents: z.int(),
  roots: z.int(),
  by_status: z.record(z.string(), z.int()),
  by_depth: z.record(z.string(), z.int()),
  orgs: z.int(),
  teams: z.int(),
});

export const opState = z.enum(opStates);

export const controlAction = z.enum(['pause', 'resume', 'terminate']);

export const receiptStatus = z.enum(['requested', 'delivered', 'acked', 'effective', 'failed', 'unconfirmed']);

/** The receipt of a control, as part of the operation. */
export const controlJson = z.object({
  id: z.string(),
  action: controlAction,
  actor: actorJson,
  reason: z.string(),
  requested_at: timestamp,
  delivered_at: timestamp.nullable(),
  acked_at: timestamp.nullable(),
  effective_at: timestamp.nullable(),
  status: receiptStatus,
  /** What the agent said about the control, or why it had no effect. */
  detail: z.string(),
  /** Whose word the status is: the agent's, or the kernel's that holds the operation. `none`: nobody has answered. */
  evidence: z.enum(['agent', 'kernel', 'none']),
  /** How many processes the kernel has frozen, let go on, or ended. Null without its word. */
  processes: z.int().nullable(),
});

export const opJson = z.object({
  op_id: z.string(),
  state: opState,
  registered_at: timestamp,
  updated_at: timestamp,
  agent: agentIdJson,
  /** Null until its first check. */
  action_type: z
    .enum(['llm_call', 'tool_call', 'file_operation', 'network_call', 'process_exec', 'agent_spawn', 'tool_result'])
    .nullable(),
  resource: z.string(),
  summary: z.string(),
  run_id: z.string(),
  /** The door that the action came through, as the agent says. Null if the agent asked by itself. */
  via: z.object({ door: z.enum(doors), name: z.string() }).nullable(),
  reason: z.string(),
  cost_micros: z.int(),
  /** What a model call did use, once it is completed. Null if nobody said. The cached ones are part of the input. */
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cached_input_tokens: z.int().nullable(),
  /** The last person to control the operation. */
  actor: actorJson.nullable(),
  control: controlJson.nullable(),
  stale: z.boolean(),
  /** Whether the kernel holds what runs, as whoever started it says: it runs under `reeve run`. */
  floor: z.boolean(),
});
