import { createHmac } from 'node:crypto';
import type { AgentName } from '../agent-identity/agent-name.ts';
import { agentNameText } from '../agent-identity/agent-name.ts';

const purpose = 'reeve mcp agent token 1';

/** The token of an agent by a key that replicas share: whoever of them registers the agent, all of them have its token. */
export function sharedAgentToken(key: Buffer, agent: AgentName): string {
  const text = JSON.stringify([purpose, agentNameText(agent)]);
  return `rva_${createHmac('sha256', key).update(text).digest('base64url')}`;
}
