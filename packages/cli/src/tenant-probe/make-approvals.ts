import { randomText } from './canary-setup.ts';
import type { CanarySetup } from './canary-setup.ts';
import { isObject } from '../is-object.ts';
import { succeeded, valueOf } from './caller.ts';
import type { RegisteredAgent } from './ports.ts';

/** The approvals and grants of an agent. */
export interface CanaryApprovals {
  /** An approval that waits for a verdict. */
  readonly approvalId: string;
  readonly grantId: string;
}

/**
 * Requests approval for an agent twice: one is approved with a standing grant, one stays open. If the gateway never
 * asks for approval, as in an older release, ids of the right form stand in.
 */
export async function makeApprovals(
  setup: CanarySetup,
  agent: RegisteredAgent,
  name: string,
): Promise<CanaryApprovals> {
  const nothing = { approvalId: `apr_${randomText(24)}`, grantId: `grt_${randomText(24)}` };
  const { caller, adminCredential: bearer, agents, made } = setup;
  const params = { name: `${name}-asks` };
  const { orgId, teamId, agentId } = agent.id;
  const source = `scope: agent:${orgId}/${teamId}/${agentId}\nrules:\n  - { effect: require_approval, approvals: { ttl_secs: 86400 } }\n`;
  const stored = await caller.callRoute('putPolicy', bearer, { params, body: { source } });
  if (!succeeded(stored)) return nothing;
  made.policies.add(params.name);
  const ask = async (runId: string): Promise<string | undefined> => {
    const { decision } = await agents.check(agent, { runId, opId: undefined });
    if (decision !== 'pending') return undefined;
    const query = { org_id: orgId, team_id: teamId, agent_id: agentId };
    const listed = await caller.callRoute('listApprovals', bearer, { query });
    return idIn(itemsOf(valueOf(listed))[0], 'id');
  };
  try {
    const granted = await ask(`${name}-granted`);
    if (granted === undefined) return nothing;
    const body = { reason: `${name}-reason`, grant: { reach: 'run' as const } };
    const approved = await caller.callRoute('approve', bearer, { params: { id: granted }, body });
    const grantId = idIn(valueOf(approved), 'grant_id');
    const approvalId = await ask(`${name}-asked`);
    if (grantId === undefined || approvalId === undefined) throw new Error('cannot make an approval of a canary');
    return { approvalId, grantId };
  } finally {
    const gone = await caller.callRoute('deletePolicy', bearer, { params });
    if (succeeded(gone)) made.policies.delete(params.name);
  }
}

function itemsOf(body: unknown): readonly unknown[] {
  const items = isObject(body) ? body['items'] : undefined;
  return Array.isArray(items) ? items : [];
}

function idIn(value: unknown, member: string): string | undefined {
  const id = isObject(value) ? value[member] : undefined;
  return typeof id === 'string' ? id : undefined;
}
