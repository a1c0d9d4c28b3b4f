import { createHmac, randomBytes } from 'node:crypto';
import { subkeyOf } from '@reeve/proxy/mcp';
import type { AgentName } from '../agent-identity/agent-name.ts';
import { agentNameText } from '../agent-identity/agent-name.ts';

const purpose = 'reeve mcp agent token 1';
/** The member of an agent's metadata that says which token it has, to those who have the key. It is no secret. */
const saltName = 'reeve_mcp_token';

/** A token that replicas make of the key that they share, and what the others must know to make the same. */
export interface SharedToken {
  readonly token: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A token that nobody has had before. */
export function newSharedToken(key: Buffer, agent: AgentName): SharedToken {
  return sharedToken(key, agent, `${Date.now()}.${randomBytes(16).toString('base64url')}`);
}

/** The token that another replica has registered the agent with, if it has made it of this key, and when. */
export function sharedTokenOf(
  key: Buffer,
  agent: AgentName,
  metadata: Readonly<Record<string, string>>,
): { readonly token: string; readonly madeAt: number } | undefined {
  const salt = metadata[saltName];
  if (salt === undefined) return undefined;
  return { token: sharedToken(key, agent, salt).token, madeAt: Number.parseInt(salt, 10) };
}

function sharedToken(key: Buffer, agent: AgentName, salt: string): SharedToken {
  const text = JSON.stringify([agentNameText(agent), salt]);
  const token = `rva_${createHmac('sha256', subkeyOf(key, purpose)).update(text).digest('base64url')}`;
  return { token, metadata: { [saltName]: salt } };
}
