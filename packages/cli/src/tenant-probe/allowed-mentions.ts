import { isObject } from '../is-object.ts';
import type { Credential } from './credentials.ts';

type Reader = Pick<Credential, 'orgId' | 'teamId' | 'ancestors'>;
type JsonObject = Readonly<Record<string, unknown>>;

export const impersonation = 'A2AImpersonationAttempted';

const claim = new Set(['claimed_org_id', 'claimed_team_id', 'claimed_agent_id']);

/**
 * Removes the few legitimate mentions of others from a successful answer, so that any that remain are leaks:
 * - in the caller's own record of an agent, its ancestors, even those of another team;
 * - in the caller's own record of an impersonation, the agent that its own agent claimed to be;
 * - in a control of a run within the caller's own tenant, the run that the caller named;
 * - in an invite into the caller's own tenant, the team that the caller named.
 */
export function withoutAllowed(value: unknown, reader: Reader): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutAllowed(item, reader));
  if (!isObject(value)) return value;
  const cleared = isEntry(value)
    ? entryWithout(value, reader)
    : runWithout(inviteWithout(agentWithout(value, reader), reader), reader);
  return Object.fromEntries(Object.entries(cleared).map(([name, member]) => [name, withoutAllowed(member, reader)]));
}

function agentWithout(agent: JsonObject, reader: Reader): JsonObject {
  const { parent } = agent;
  if (!isOwn(agent, reader) || !isObject(parent)) return agent;
  const isAncestor = reader.ancestors.some(
    ({ id }) => id.agentId === parent['agent_id'] && id.teamId === parent['team_id'] && id.orgId === parent['org_id'],
  );
  return isAncestor ? { ...agent, parent: null } : agent;
}

function inviteWithout(invite: JsonObject, reader: Reader): JsonObject {
  const isInvite = 'email' in invite && 'role' in invite && 'expires_at' in invite && isOwn(invite, reader);
  return isInvite ? { ...invite, team_id: '' } : invite;
}

function runWithout(control: JsonObject, reader: Reader): JsonObject {
  const isControl = 'run_id' in control && 'control_id' in control && isOwn(control, reader);
  return isControl ? { ...control, run_id: '' } : control;
}

/** A log entry. In CSV the lineage members stand beside the others, and the payload is text. */
function entryWithout(entry: JsonObject, reader: Reader): JsonObject {
  const lineage = isObject(entry['lineage']) ? entry['lineage'] : entry;
  if (!isOwn(lineage, reader)) return entry;
  const payload = payloadOf(entry);
  const cleared = isImpersonation(entry, payload) ? withoutClaim(payload) : withoutParent(payload, reader);
  return { ...entry, payload: cleared, ...('lineage' in entry ? { lineage: lineageWithout(lineage, reader) } : {}) };
}

function lineageWithout(lineage: JsonObject, { ancestors }: Reader): JsonObject {
  const isAncestor = (name: unknown) => ancestors.some(({ id }) => id.agentId === name);
  return Object.fromEntries(
    Object.entries(lineage).filter(
      ([name, value]) => !((name === 'parent_agent_id' || name === 'root_agent_id') && isAncestor(value)),
    ),
  );
}

/** In the log, or as an alert of a stream. */
function isImpersonation(entry: JsonObject, payload: JsonObject): boolean {
  return entry['event_type'] === impersonation || payload['alert'] === 'impersonation';
}

function withoutClaim(payload: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !claim.has(name)));
}

function withoutParent(payload: JsonObject, { ancestors }: Reader): JsonObject {
  const isAncestor = ancestors.some(({ id }) => payload['parent'] === `${id.orgId}/${id.teamId}/${id.agentId}`);
  return isAncestor ? { ...payload, parent: null } : payload;
}

function payloadOf({ payload }: JsonObject): JsonObject {
  if (isObject(payload)) return payload;
  try {
    const parsed: unknown = JSON.parse(String(payload));
    return isObject(parsed) ? parsed : {};
  } catch {
    return { text: payload };
  }
}

function isEntry(value: JsonObject): boolean {
  return 'event_type' in value && 'payload' in value;
}

function isOwn(record: JsonObject, { orgId, teamId }: Reader): boolean {
  return record['org_id'] === orgId && (teamId === null || record['team_id'] === teamId);
}
