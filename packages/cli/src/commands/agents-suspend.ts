import { agentPath, agentText } from '../command-line/agent-path.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';

const agent = required('ORG/TEAM/AGENT, with "-" for an empty org or team.', 'agent');

export const agentsSuspendCommand = defineCommand({
  details: [
    'Needs the scope write. Every check of the agent is denied and its running operations are paused, until it is resumed. Outlives restarts and registering again. Data: the record of the agent.',
  ],
  args: { agent },
  options: { reason: text('TEXT', 'Why; the audit log keeps it.') },
  examples: [['reeve agents suspend acme/support/helper --reason "runs wild"', 'stop this agent']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const suspended = await client.call('suspendAgent', {
      params: agentPath(input.args.agent),
      body: { reason: input.options.reason ?? '' },
    });
    const words = `Suspended ${agentText(suspended)}; ${counted(suspended.in_flight, 'operation')} in flight.`;
    print(shell, input.globals.output, suspended, () => cleanText(words));
    return 0;
  },
});

export const agentsResumeCommand = defineCommand({
  details: [
    'Needs the scope write. Lifts a suspension, and the block of an agent that had not confirmed a stop. Operations that the suspension paused run on. Data: the record of the agent.',
  ],
  args: { agent },
  options: { reason: text('TEXT', 'Why; the audit log keeps it.') },
  examples: [['reeve agents resume acme/support/helper', 'let it work again']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const resumed = await client.call('resumeAgent', {
      params: agentPath(input.args.agent),
      body: { reason: input.options.reason ?? '' },
    });
    const words = `Resumed ${agentText(resumed)}; ${counted(resumed.in_flight, 'operation')} in flight.`;
    print(shell, input.globals.output, resumed, () => cleanText(words));
    return 0;
  },
});
