import type { AuditReader, Authenticator, Governance } from '@reeve/core';
import { executorOf } from '@reeve/core';
import type { Rooms } from '@reeve/grpc-server';
import { defaultLimits, roomsOf } from '@reeve/grpc-server';
import { utf8 } from '../adapters/system/utf8.ts';
import type { Config } from '../config/settings.ts';
import type { readTls } from '../startup/read-tls.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { agentService } from '../transports/grpc/agent-service.ts';
import { controlService } from '../transports/grpc/control-service.ts';
import { freshRoutes } from '../transports/grpc/fresh-routes.ts';
import { healthService } from '../transports/grpc/health-service.ts';
import { policyService } from '../transports/grpc/policy-service.ts';
import { ReeveEngineServer } from '../transports/grpc/reeve-engine-server.ts';
import { reflectionService } from '../transports/grpc/reflection-service.ts';
import type { RpcRoutes, RpcServer } from '../transports/grpc/rpc.ts';
import { mergeRoutes } from '../transports/grpc/rpc.ts';
import { rateLimited, statusOf } from '../transports/grpc/status.ts';
import { traced } from '../transports/grpc/traced.ts';
import type { Limits } from '../transports/http/limits.ts';
import { openResultJudge } from './open-policies.ts';
import type { WiringContext } from './wiring-context.ts';
import { catchUp, logUnforeseen } from './wiring-context.ts';

export interface GrpcParts {
  readonly gov: Governance;
  readonly identity: { readonly authenticator: Authenticator };
  readonly log: AuditReader;
  readonly tls: ReturnType<typeof readTls>;
  readonly tracing: Tracing | undefined;
  readonly limits: Limits;
  readonly rooms: Rooms;
}

/** Calls that an org may have open, for each agent that it may have: its control stream, and what it asks beside that. */
const callsOfAgent = 5;

/** What all transports together let one tenant keep open, unread or unfinished. */
export function roomsFor({ maxAgentsPerOrg }: Pick<Config, 'maxAgentsPerOrg'>): Rooms {
  const callsOfAccount = Math.max(defaultLimits.callsOfAccount, callsOfAgent * maxAgentsPerOrg);
  return roomsOf({ ...defaultLimits, callsOfAccount });
}

/** The services that agents call. The server does not listen yet. */
export function makeGrpcServer(context: WiringContext, parts: GrpcParts): RpcServer {
  const { health } = context;
  const governed = governedRoutes(context, parts);
  const unforeseen = logUnforeseen(context);
  return new ReeveEngineServer({
    routes: mergeRoutes(
      parts.tracing === undefined ? governed : traced(governed, parts.tracing),
      healthService(health),
      reflectionService(health),
    ),
    tls: parts.tls,
    rooms: parts.rooms,
    statusOf: (error) => statusOf(error, unforeseen),
  });
}

function governedRoutes(
  context: WiringContext,
  { gov, identity: { authenticator }, limits, log }: GrpcParts,
): RpcRoutes {
  const { config, health, metrics } = context;
  const resultJudge = openResultJudge(context, gov);
  const execute = executorOf(gov);
  const services = mergeRoutes(
    policyService(gov, execute, {
      health,
      onAnswer: (answer) => metrics.decided(answer),
      results: { log, utf8, judgeAside: (result, moment) => resultJudge.judge(result, moment) },
    }),
    controlService(gov, execute, health),
    agentService(gov, execute, {
      authenticate: async (authorization) => {
        const caller = await authenticator.authenticate(authorization).catch((error: unknown) => {
          metrics.authFailed();
          throw error;
        });
        const retryAfterSecs = limits.credentialRpc(caller.credentialId);
        if (retryAfterSecs !== undefined) throw rateLimited(retryAfterSecs);
        return caller;
      },
      heartbeatIntervalSecs: config.heartbeatIntervalSecs,
      subjects: gov.subjects,
    }),
  );
  return freshRoutes(services, () => catchUp(gov));
}
