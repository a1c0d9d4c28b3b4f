import type { ActionType as WireActionType } from '@reeve/contract';
import {
  actionTypeNames,
  DelegateAgentResponse,
  DeregisterAgentResponse,
  HeartbeatResponse,
  IdentifyAgentResponse,
  paths,
  RegisterAgentResponse,
  RenewTokenResponse,
  ReportToolDefinitionsResponse,
  RevokeDelegationResponse,
} from '@reeve/contract';
import type { ActionType, Execute, Issuers, Principal, SubjectIssuer, Tenancy } from '@reeve/core';
import { heartbeat, identifyByToken, invalid, timestamp } from '@reeve/core';
import { readerOf, readerOfAgent } from '../../evaluation/tenant-slots.ts';
import type { Admits } from './decode.ts';
import { decode, decodeFromAgent } from './decode.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes, UnaryHandler } from './rpc.ts';

export interface AgentServiceOptions {
  readonly authenticate: (authorization: string | undefined) => Promise<Principal>;
  readonly heartbeatIntervalSecs: number;
  /** Whose tokens of users are taken. */
  readonly subjects: Issuers<SubjectIssuer>;
}

export function agentService(tenancy: Tenancy & Admits, execute: Execute, options: AgentServiceOptions): RpcRoutes {
  return {
    unary: new Map<string, UnaryHandler>([
      [
        paths.registerAgent,
        async (bytes, call) => {
          const caller = await options.authenticate(call.authorization);
          call.credentialShown(readerOf(caller));
          const wire = decode('RegisterAgentRequest', bytes);
          const { token, created, expiresAt } = await execute({
            kind: 'register_agent',
            by: caller,
            agentId: wire.agentId,
            token: wire.credentialToken,
            name: wire.name,
            framework: wire.framework,
            version: wire.version,
            parent: wire.parentAgentId,
            metadata: wire.metadata,
            toolNames: wire.toolNames,
            ttlSecs: wire.tokenTtlSecs,
            ...(wire.onlyIfNew === true ? { ifRegistered: 'refuse' } : {}),
          });
          return encode(RegisterAgentResponse, {
            credentialToken: token,
            heartbeatIntervalSecs: options.heartbeatIntervalSecs,
            created,
            expiresAt: timeOrNone(expiresAt),
          });
        },
      ],
      [
        paths.heartbeat,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'HeartbeatRequest', bytes);
          const answer = heartbeat(tenancy, wire.agentId, wire.credentialToken);
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(HeartbeatResponse, answer);
        },
      ],
      [
        paths.identifyAgent,
        async (bytes, call) => {
          const { credentialToken } = await decodeFromAgent(tenancy, 'IdentifyAgentRequest', bytes);
          const answer = identifyByToken(tenancy, credentialToken);
          call.credentialShown(readerOfAgent(answer.agentId));
          const issuers = options.subjects.trusted.map(({ settings }) => settings.issuer);
          return encode(IdentifyAgentResponse, {
            subjectIssuers: [...new Set(issuers)],
            agentId: answer.agentId,
            suspended: answer.suspended,
            expiresAt: timeOrNone(answer.expiresAt),
            tokenTtlSecs: answer.ttlSecs ?? 0,
          });
        },
      ],
      [
        paths.renewToken,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'RenewTokenRequest', bytes);
          const { agentId, credentialToken: token } = wire;
          const renewed = await execute({ kind: 'renew_token', agentId, token });
          call.credentialShown(readerOfAgent(agentId));
          return encode(RenewTokenResponse, {
            credentialToken: renewed.token,
            expiresAt: timeOrNone(renewed.expiresAt),
          });
        },
      ],
      [
        paths.deregisterAgent,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'DeregisterAgentRequest', bytes);
          const { agentId, credentialToken: token, reason } = wire;
          await execute({ kind: 'deregister_agent', agentId, token, reason });
          call.credentialShown(readerOfAgent(agentId));
          return encode(DeregisterAgentResponse, {});
        },
      ],
      [
        paths.reportToolDefinitions,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'ReportToolDefinitionsRequest', bytes);
          await execute({
            kind: 'report_tools',
            agentId: wire.agentId,
            token: wire.credentialToken,
            source: wire.toolSource,
            changed: wire.changed.map(({ toolName, lockedSha256, actualSha256 }) => {
              return { tool: toolName, locked: lockedSha256, actual: actualSha256 };
            }),
          });
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(ReportToolDefinitionsResponse, {});
        },
      ],
      [
        paths.delegateAgent,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'DelegateAgentRequest', bytes);
          const { agentId, token, expiresAt } = await execute({
            kind: 'delegate_agent',
            agentId: wire.agentId,
            token: wire.credentialToken,
            childId: wire.childId,
            ttlSecs: wire.ttlSecs,
            actions: [...new Set(wire.actions.map(actionNameOf))],
            tools: wire.tools,
            maxCostMicros: wire.maxCostMicros ?? null,
            maxChecks: wire.maxChecks ?? null,
            name: wire.name,
          });
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(DelegateAgentResponse, { agentId, credentialToken: token, expiresAt: timestamp(expiresAt) });
        },
      ],
      [
        paths.revokeDelegation,
        async (bytes, call) => {
          const wire = await decodeFromAgent(tenancy, 'RevokeDelegationRequest', bytes);
          const { agentId, credentialToken: token, childId } = wire;
          await execute({ kind: 'revoke_delegation', agentId, token, childId });
          call.credentialShown(readerOfAgent(agentId));
          return encode(RevokeDelegationResponse, {});
        },
      ],
    ]),
    stream: new Map(),
  };
}

/** A time on the wire; empty if there is none. */
function timeOrNone(at: number | null): string {
  return at === null ? '' : timestamp(at);
}

function actionNameOf(wire: WireActionType): ActionType {
  const name = actionTypeNames.nameOf(wire);
  if (name === undefined) throw invalid('actions', 'must be named action types, as TOOL_CALL (2)');
  return name;
}
