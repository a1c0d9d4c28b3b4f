import type { CanarySetup } from './canary-setup.ts';
import type { Answer } from './caller.ts';
import { succeeded } from './caller.ts';
import { agentParams } from './canaries.ts';

/**
 * Removes what a probe has made: it deregisters agents, deletes policies and revokes invites and keys. It goes on after a failure,
 * and returns what is left. The audit log keeps its entries, as it must.
 */
export async function cleanUp({ caller, adminCredential, agents, made }: CanarySetup): Promise<string[]> {
  const left: string[] = [];
  // Children before their parents.
  for (const agent of made.agents.toReversed()) {
    try {
      // A suspension would outlive the registration.
      const request = { params: agentParams(agent.id), body: { reason: 'end of the tenant probe' } };
      await caller.callRoute('resumeAgent', adminCredential, request);
      await agents.deregisterAgent(agent);
    } catch (error) {
      left.push(`agent ${agent.id.orgId}/${agent.id.teamId}/${agent.id.agentId} is still registered: ${String(error)}`);
    }
  }
  const end = async (answering: Promise<Answer>, otherwise: string, isOver: (answer: Answer) => boolean) => {
    try {
      const answer = await answering;
      if (!isOver(answer)) left.push(`${otherwise}: ${answer.status}`);
    } catch (error) {
      left.push(`${otherwise}: ${String(error)}`);
    }
  };
  const isGone = (answer: Answer) => succeeded(answer) || answer.status === 404;
  for (const name of made.policies) {
    const deleting = caller.callRoute('deletePolicy', adminCredential, { params: { name } });
    await end(deleting, `policy ${name} is in force`, isGone);
  }
  for (const id of made.invites) {
    const revoking = caller.callRoute('revokeInvite', adminCredential, { params: { id } });
    await end(revoking, `invite ${id} is not revoked`, isGone);
  }
  for (const { id } of made.keys) {
    const revoking = caller.callRoute('revokeApiKey', adminCredential, { params: { id } });
    await end(revoking, `API key ${id} is not revoked`, succeeded);
  }
  return left;
}
