import { defineCommand } from '../command-line/command.ts';
import { flag, required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { confirm } from '../terminal/ask.ts';

export const policyDeleteCommand = defineCommand({
  details: [
    'Needs the scope admin. Takes a stored document out of force. Its versions stay: "reeve policy rollback" brings it back. Asks on a terminal. Data: {name, deleted: true}.',
  ],
  args: { name: required('The name of a stored document.', 'policy') },
  options: { yes: flag('Do not ask.', { short: 'y' }) },
  examples: [['reeve policy delete acme-mail', 'it is no longer in force']],
  run: async (input, shell) => {
    const { name } = input.args;
    const client = await connect(shell, input);
    const question = `Take ${cleanText(name)} out of force at ${client.apiUrl}?`;
    if (!input.options.yes && shell.stdin.isTTY && !(await confirm(shell, question))) {
      note(shell, 'Nothing was changed.');
      return 1;
    }
    const { body } = await client.open('deletePolicy', { params: { name } });
    body.resume();
    print(shell, input.globals.output, { name, deleted: true }, () =>
      cleanText(`${name} is out of force. Its versions stay: reeve policy history ${name}`),
    );
    return 0;
  },
});
