import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { print } from '../output/print.ts';
import { newKeyText, remindToKeep } from './keys-create.ts';

export const keysRotateCommand = defineCommand({
  details: [
    'Needs the scope admin. The old key, and every token made from it, stop at once. Data: as POST /api/v1/iam/api-keys/{id}/rotate.',
  ],
  args: { id: required('The 12 characters behind rvk_.', 'key') },
  options: {},
  examples: [['reeve keys rotate auwi7gmknz6h', 'a new key with the same rights, and an end to the old one']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const key = await client.call('rotateApiKey', { params: { id: input.args.id } });
    print(shell, input.globals.output, key, () => newKeyText(key));
    if (input.globals.output === 'table') remindToKeep(shell);
    return 0;
  },
});
