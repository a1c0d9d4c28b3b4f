import type { FullAgentId } from './agent-id.ts';
import type { GatewayLink } from './gateway-link.ts';
import { rpc } from './rpc-methods.ts';

/** Asks the gateway for a new token in place of an old one. */
export async function renewedToken(
  link: GatewayLink,
  id: FullAgentId,
  old: string,
): Promise<{ readonly token: string }> {
  const request = { agentId: { ...id }, credentialToken: old };
  const { credentialToken: token } = await link.send(rpc.renewToken, request, link.limits({}));
  return { token };
}
