import { agentNameText, parseAgentName } from '../agent-identity/agent-name.ts';
import { grpcGateway } from '../agent-identity/grpc-gateway.ts';
import { gatewayOptions } from '../agent-identity/identity-options.ts';
import { contextCredential, enroll } from '../agent-identity/register-agent.ts';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { note, print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';

export const agentsRegisterCommand = defineCommand({
  details: [
    'Needs the scope write. The token is shown this once and never again. An agent that is registered already gets a new token, and the old one stops at once. Data: {org_id, team_id, agent_id, token, created}.',
  ],
  args: { agent: required('ORG/TEAM/AGENT, with "-" for an empty org or team.') },
  options: {
    name: text('TEXT', 'What people call it.'),
    framework: text('TEXT', 'What it is made with, such as "claude-code".'),
    ...gatewayOptions,
  },
  examples: [
    ['reeve agents register acme/support/helper --name "Support helper"', 'a token for this agent'],
    ['reeve agents register acme/support/helper -o json', 'the same, for programs'],
  ],
  run: async (input, shell) => {
    const { name, framework } = input.options;
    const id = parseAgentName(input.args.agent, 'AGENT');
    const gateway = grpcGateway(shell, input.options);
    const credential = await contextCredential({ shell, globals: input.globals });
    if (credential === undefined) throw new CliError('no API key: set REEVE_API_KEY or run "reeve login"');
    const { token, created } = await enroll(credential, id, gateway, { name, framework });
    const data = { org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId, token, created };
    print(shell, input.globals.output, data, () =>
      renderRecord([
        ['Token', token],
        ['Agent', agentNameText(id)],
        ['Created', created ? 'yes' : 'no: its token was replaced'],
      ]),
    );
    if (input.globals.output === 'table') note(shell, 'Keep the token now: it is not shown again.');
    return 0;
  },
});
