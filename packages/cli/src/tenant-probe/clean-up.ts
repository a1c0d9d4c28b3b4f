import type { Workshop } from './workshop.ts';
import { agentPath } from './canaries.ts';
import { succeeded } from './caller.ts';

/**
 * Removes what a probe has made: it deregisters agents, deletes policies and revokes invites and keys. It goes on after a failure,
 * and returns what is left. The audit log keeps its entries, as it must.
 */
export async function cleanUp({ caller, adminCredential, agents, made }: Workshop): Promise<string[]> {
  const left: string[] = [];
  // Children before their parents.
  for (const agent of made.agents.toReversed()) {
    const path = `${agentPath(agent.id)}/resume`;
    try {
      // A suspension would outlive the registration.
      await caller.call({ method: 'POST', path, bearer: adminCredential, body: { reason: 'end of the tenant probe' } });
      await agents.deregisterAgent(agent);
    } catch (error) {
      left.push(`agent ${agent.id.orgId}/${agent.id.teamId}/${agent.id.agentId} is still registered: ${String(error)}`);
    }
  }
  for (const name of made.policies) {
    const path = `/api/v1/policies/${encodeURIComponent(name)}`;
    try {
      const answer = await caller.call({ method: 'DELETE', path, bearer: adminCredential, body: undefined });
      if (!succeeded(answer) && answer.status !== 404) left.push(`policy ${name} is in force: ${answer.status}`);
    } catch (error) {
      left.push(`policy ${name} is in force: ${String(error)}`);
    }
  }
  for (const id of made.invites) {
    const path = `/api/v1/auth/invites/${id}`;
    try {
      const answer = await caller.call({ method: 'DELETE', path, bearer: adminCredential, body: undefined });
      if (!succeeded(answer) && answer.status !== 404) left.push(`invite ${id} is not revoked: ${answer.status}`);
    } catch (error) {
      left.push(`invite ${id} is not revoked: ${String(error)}`);
    }
  }
  for (const { id } of made.keys) {
    const path = `/api/v1/iam/api-keys/${id}/revoke`;
    try {
      const answer = await caller.call({ method: 'POST', path, bearer: adminCredential, body: undefined });
      if (!succeeded(answer)) left.push(`API key ${id} is not revoked: ${answer.status}`);
    } catch (error) {
      left.push(`API key ${id} is not revoked: ${String(error)}`);
    }
  }
  return left;
}
