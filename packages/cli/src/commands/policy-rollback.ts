import { UsageError } from '../cli-error.ts';
import type { Argument } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { confirm } from '../terminal/ask.ts';

const version: Argument<number> = {
  summary: 'The version to put in force again; "reeve policy history NAME" has them.',
  isOptional: false,
  read: (given, name) => {
    if (given !== undefined && /^[1-9]\d{0,8}$/.test(given)) return Number(given);
    throw new UsageError(given === undefined ? `${name} is missing` : `${name} must be a whole number, not "${given}"`);
  },
};

export const policyRollbackCommand = defineCommand({
  details: [
    'Needs the scope admin. Puts an earlier version in force again, as a new version: the history only grows. Asks on a terminal. Data: the document, as POST /api/v1/policies/{name}/rollback.',
  ],
  args: { name: required('The name of a document.', 'policy'), version },
  options: {
    note: text('TEXT', 'What it is for; the history keeps it.'),
    yes: flag('Do not ask.', { short: 'y' }),
  },
  examples: [['reeve policy rollback guardrails 3 --note "4 denied too much"', 'back to the third version']],
  run: async (input, shell) => {
    const { args, options } = input;
    const client = await connect(shell, input);
    const question = `Put version ${args.version} of ${cleanText(args.name)} in force at ${client.apiUrl}?`;
    if (!options.yes && shell.stdin.isTTY && !(await confirm(shell, question))) {
      note(shell, 'Nothing was changed.');
      return 1;
    }
    const policy = await client.call('rollbackPolicy', {
      params: { name: args.name },
      body: { version: args.version, note: options.note ?? '' },
    });
    const words = `${policy.name} is as in version ${args.version} again, as version ${policy.version}.`;
    print(shell, input.globals.output, policy, () => cleanText(words));
    return 0;
  },
});
