import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';

export const keysRevokeCommand = defineCommand({
  details: [
    'Needs the scope admin. The key, and every token made from it, stop at once. Revoking a revoked key changes nothing. Data: the record of the key.',
  ],
  args: { id: required('The 12 characters behind rvk_.', 'key') },
  options: {},
  examples: [['reeve keys revoke auwi7gmknz6h', 'an end to the key']],
  run: async (input, shell) => {
    const client = await connect(shell, input);
    const key = await client.call('revokeApiKeyUnversioned', { params: { id: input.args.id } });
    print(
      shell,
      input.globals.output,
      key,
      () => `Revoked ${cleanText(key.id)} (${cleanText(key.label)}) at ${cleanText(String(key.revoked_at))}.`,
    );
    return 0;
  },
});
