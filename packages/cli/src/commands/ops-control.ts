import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';

/** The three controls of one operation. They differ in wording and route. */

const id = required('trace:span, or org/team/agent/trace:span if that is ambiguous.', 'op');
const reason = text('TEXT', 'Why; the audit log keeps it, and the agent is told.');
const data = 'Data: {op, control}: the operation, and the receipt of this control.';

export const opsPauseCommand = defineCommand({
  details: [`Needs the scope write. The agent is told by its control stream. ${data}`],
  args: { id },
  options: { reason },
  examples: [['reeve ops pause t1:s1 --reason "looks odd"', 'hold a running operation']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const answer = await client.call('pauseOp', {
      params: { id: input.args.id },
      body: { reason: input.options.reason ?? '' },
    });
    print(shell, input.globals.output, answer, () => controlledText(answer));
    return 0;
  },
});

export const opsResumeCommand = defineCommand({
  details: [`Needs the scope write. ${data}`],
  args: { id },
  options: { reason },
  examples: [['reeve ops resume t1:s1', 'let a paused operation run on']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const answer = await client.call('resumeOp', {
      params: { id: input.args.id },
      body: { reason: input.options.reason ?? '' },
    });
    print(shell, input.globals.output, answer, () => controlledText(answer));
    return 0;
  },
});

export const opsTerminateCommand = defineCommand({
  details: [
    `Needs the scope write. Cannot be taken back. Terminating a terminated operation changes nothing, and control is null then. ${data}`,
  ],
  args: { id },
  options: { reason },
  examples: [['reeve ops terminate t1:s1 --reason "wrong customer"', 'end an operation']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const answer = await client.call('terminateOp', {
      params: { id: input.args.id },
      body: { reason: input.options.reason ?? '' },
    });
    print(shell, input.globals.output, answer, () => controlledText(answer));
    return 0;
  },
});

interface Controlled {
  readonly op: { readonly op_id: string; readonly state: string };
  readonly control: { readonly id: string; readonly status: string } | null;
}

function controlledText({ op, control }: Controlled): string {
  const receipt = control === null ? 'it was so before' : `control ${control.id} is ${control.status}`;
  return cleanText(`${op.op_id} is ${op.state}; ${receipt}.`);
}
