import { text } from '../command-line/values.ts';

/** Where agents reach the gateway. */
export const grpcAddrOption = {
  grpcAddr: text(
    'HOST:PORT',
    'Where the gateway answers agents; several by commas. Also: REEVE_GRPC_ADDR. Default: 127.0.0.1:50051.',
  ),
};

/** The options of commands that act as an agent. `resolveAgent` takes what was read. */
export const identityOptions = {
  agent: text('ORG/TEAM/AGENT', 'The agent to act as; registered on first use. Also: REEVE_AGENT.', {
    completes: 'agent',
  }),
  agentTokenFile: text('FILE', "A file with the agent's token. Also: REEVE_AGENT_TOKEN with the token itself.", {
    completes: 'file',
  }),
  ...grpcAddrOption,
};
