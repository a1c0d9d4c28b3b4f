import { resolve } from 'node:path';
import { number, text } from '../command-line/values.ts';

/** Where agents reach the gateway. `grpcGateway` takes what was read. */
export const gatewayOptions = {
  grpcAddr: text(
    'HOST:PORT',
    'Where the gateway answers agents; several by commas. Also: REEVE_GRPC_ADDR. Default: 127.0.0.1:50051.',
  ),
  grpcCa: text(
    'FILE',
    "The authorities of the gateway's certificate, in PEM, if the system has not. Also: REEVE_GRPC_CA.",
    {
      completes: 'file',
    },
  ),
};

/** How long a token may be asked to work. */
export const tokenTtlSecs = { least: 60, most: 31_536_000 };

/** The options of commands that act as an agent. `resolveAgent` takes what was read. */
export const identityOptions = {
  agent: text('ORG/TEAM/AGENT', 'The agent to act as; registered on first use. Also: REEVE_AGENT.', {
    completes: 'agent',
  }),
  agentTokenFile: text(
    'FILE',
    "A file with the agent's token, read again when somebody renews it. Also: REEVE_AGENT_TOKEN with the token itself.",
    { completes: 'file' },
  ),
  agentTokenTtl: number(
    'SECS',
    'How long the token of a first registration works; it is renewed in time. Also: REEVE_AGENT_TOKEN_TTL. Default: always.',
    { min: tokenTtlSecs.least, max: tokenTtlSecs.most },
  ),
  ...gatewayOptions,
};

export interface GivenIdentity {
  readonly agent: string | undefined;
  readonly agentTokenFile: string | undefined;
  readonly agentTokenTtl: number | undefined;
  readonly grpcAddr: string | undefined;
  readonly grpcCa: string | undefined;
}

/** The options as they were given, for another command that acts as the same agent from any folder. */
export function identityWords(given: GivenIdentity): readonly string[] {
  const { agent, agentTokenFile, agentTokenTtl, grpcAddr, grpcCa } = given;
  return [
    ...(agent === undefined ? [] : ['--agent', agent]),
    ...(agentTokenFile === undefined ? [] : ['--agent-token-file', resolve(agentTokenFile)]),
    ...(agentTokenTtl === undefined ? [] : ['--agent-token-ttl', String(agentTokenTtl)]),
    ...(grpcAddr === undefined ? [] : ['--grpc-addr', grpcAddr]),
    ...(grpcCa === undefined ? [] : ['--grpc-ca', resolve(grpcCa)]),
  ];
}
