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
import type { Admits, Messages } from './decode.ts';
import { decode, decodeFromAgent } from './decode.ts';
import type { Codec } from './message-writer.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes, UnaryHandler } from './rpc.ts';

export interface AgentServiceOptions {
  readonly authenticate: (authorization: string | undefined) => Promise<Principal>;
  readonly heartbeatIntervalSecs: number;
  /** Whose tokens of users are taken. */
  readonly subjects: Issuers<SubjectIssuer>;
}

interface Ports {
  readonly tenancy: Tenancy & Admits;
  readonly execute: Execute;
  readonly options: AgentServiceOptions;
}

export function agentService(tenancy: Tenancy & Admits, execute: Execute, options: AgentServiceOptions): RpcRoutes {
  const ports = { tenancy, execute, options };
  const unary = [...enrolment(ports), ...ownCalls(ports), ...delegation(ports)];
  return { unary: new Map(unary), stream: new Map() };
}

type Route = readonly [path: string, handler: UnaryHandler];

/** The messages in which an agent names itself. */
type ByAgent = Exclude<Parameters<typeof decodeFromAgent>[1], 'IdentifyAgentRequest'>;

/** A call of an agent with its own token. The answer to it proves the token. */
function byAgent<Name extends ByAgent, Answer>(
  { tenancy }: Ports,
  name: Name,
  response: Codec<Answer>,
  act: (wire: Messages[Name]) => Answer | Promise<Answer>,
): UnaryHandler {
  return async (bytes, call) => {
    const wire = await decodeFromAgent(tenancy, name, bytes);
    const answer = await act(wire);
    call.credentialShown(readerOfAgent(wire.agentId));
    return encode(response, answer);
  };
}

/** How an agent comes, learns who it is, and leaves. */
function enrolment(ports: Ports): readonly Route[] {
  const { tenancy, execute, options } = ports;
  return [
    [
      paths.registerAgent,
      async (bytes, call) => {
        const caller = await options.authenticate(call.authorization);
        call.credentialShown(readerOf(caller));
        const wire = decode('RegisterAgentRequest', bytes);
        const { token, created, expiresAt, metadata } = await execute({
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
          ...(wire.onlyIfNew === true ? { ifRegistered: wire.tellMetadata === true ? 'tell' : 'refuse' } : {}),
        });
        return encode(RegisterAgentResponse, {
          credentialToken: token,
          heartbeatIntervalSecs: options.heartbeatIntervalSecs,
          created,
          expiresAt: timeOrNone(expiresAt),
          metadata: { ...metadata },
        });
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
      paths.deregisterAgent,
      byAgent(ports, 'DeregisterAgentRequest', DeregisterAgentResponse, async (wire) => {
        const { agentId, credentialToken: token, reason } = wire;
        await execute({ kind: 'deregister_agent', agentId, token, reason });
        return {};
      }),
    ],
  ];
}

/** What an agent does for itself in between. */
function ownCalls(ports: Ports): readonly Route[] {
  const { tenancy, execute } = ports;
  return [
    [
      paths.heartbeat,
      byAgent(ports, 'HeartbeatRequest', HeartbeatResponse, (wire) =>
        heartbeat(tenancy, wire.agentId, wire.credentialToken),
      ),
    ],
    [
      paths.renewToken,
      byAgent(ports, 'RenewTokenRequest', RenewTokenResponse, async ({ agentId, credentialToken }) => {
        const renewed = await execute({ kind: 'renew_token', agentId, token: credentialToken });
        return { credentialToken: renewed.token, expiresAt: timeOrNone(renewed.expiresAt) };
      }),
    ],
    [
      paths.reportToolDefinitions,
      byAgent(ports, 'ReportToolDefinitionsRequest', ReportToolDefinitionsResponse, async (wire) => {
        await execute({
          kind: 'report_tools',
          agentId: wire.agentId,
          token: wire.credentialToken,
          source: wire.toolSource,
          changed: wire.changed.map(({ toolName, lockedSha256, actualSha256 }) => {
            return { tool: toolName, locked: lockedSha256, actual: actualSha256 };
          }),
        });
        return {};
      }),
    ],
  ];
}

function delegation(ports: Ports): readonly Route[] {
  const { execute } = ports;
  return [
    [
      paths.delegateAgent,
      byAgent(ports, 'DelegateAgentRequest', DelegateAgentResponse, async (wire) => {
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
          ...(wire.maxDelegates === undefined ? {} : { maxDelegates: wire.maxDelegates }),
          name: wire.name,
          childToken: wire.childToken ?? '',
        });
        return { agentId, credentialToken: token, expiresAt: timestamp(expiresAt) };
      }),
    ],
    [
      paths.revokeDelegation,
      byAgent(ports, 'RevokeDelegationRequest', RevokeDelegationResponse, async (wire) => {
        const { agentId, credentialToken: token, childId } = wire;
        await execute({ kind: 'revoke_delegation', agentId, token, childId });
        return {};
      }),
    ],
  ];
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
