import { DeregisterAgentResponse, HeartbeatResponse, paths, RegisterAgentResponse } from '@reeve/contract';
import type { Governance, Principal } from '@reeve/core';
import { deregisterAgent, heartbeat, registerAgent } from '@reeve/core';
import { decode } from './decode.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes, UnaryHandler } from './rpc.ts';

export interface AgentServiceOptions {
  readonly authenticate: (authorization: string | undefined) => Promise<Principal>;
  readonly heartbeatIntervalSecs: number;
}

export function agentService(gov: Governance, options: AgentServiceOptions): RpcRoutes {
  return {
    unary: new Map<string, UnaryHandler>([
      [
        paths.registerAgent,
        async (bytes, call) => {
          const caller = await options.authenticate(call.authorization);
          const wire = decode('RegisterAgentRequest', bytes);
          const { token, created } = await registerAgent(gov, caller, {
            agentId: wire.agentId,
            token: wire.credentialToken,
            name: wire.name,
            framework: wire.framework,
            version: wire.version,
            parent: wire.parentAgentId,
            metadata: wire.metadata,
            toolNames: wire.toolNames,
          });
          return encode(RegisterAgentResponse, {
            credentialToken: token,
            heartbeatIntervalSecs: options.heartbeatIntervalSecs,
            created,
          });
        },
      ],
      [
        paths.heartbeat,
        (bytes) => {
          const wire = decode('HeartbeatRequest', bytes);
          return encode(HeartbeatResponse, heartbeat(gov, wire.agentId, wire.credentialToken));
        },
      ],
      [
        paths.deregisterAgent,
        async (bytes) => {
          const wire = decode('DeregisterAgentRequest', bytes);
          await deregisterAgent(gov, { agentId: wire.agentId, token: wire.credentialToken, reason: wire.reason });
          return encode(DeregisterAgentResponse, {});
        },
      ],
    ]),
    stream: new Map(),
  };
}
