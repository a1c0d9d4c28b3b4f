import { defineCommand } from '../command-line/command.ts';
import { required } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { problemLines, validateOffline } from '../policy/offline.ts';

export const policyValidateCommand = defineCommand({
  details: [
    'Works without a gateway: what it accepts, a gateway of the same version accepts. Names each mistake with file, line and column, and ends with 1 where there is one. Of a folder it reads what the gateway reads: every .yaml and .yml file, also in folders below, except where a name starts with a dot.',
    'Data: {valid, files, documents: [{name, file, scope, mode, rules}], errors: [{file, line, column, message}]}.',
  ],
  args: { path: required('A policy file, or a folder of them.', 'file') },
  options: {},
  examples: [
    ['reeve policy validate policies', 'a folder, as the gateway would load it'],
    ['reeve policy validate policies/approvals.yaml --output json', 'one file, for an editor'],
  ],
  run: async (input, shell) => {
    const { files, documents, problems } = await validateOffline(input.args.path);
    const isValid = problems.length === 0;
    const data = {
      valid: isValid,
      files,
      documents: documents.map(({ name, file, scope, mode, rules }) => ({ name, file, scope, mode, rules })),
      errors: problems,
    };
    print(shell, input.globals.output, data, () => {
      if (!isValid) return problemLines(problems).map(cleanText).join('\n');
      if (documents.length === 0) return `No policy in ${counted(files.length, 'file')}: everything would be denied.`;
      const rules = documents.reduce((sum, document) => sum + document.rules, 0);
      return `In order: ${counted(documents.length, 'document')}, ${counted(rules, 'rule')}, ${counted(files.length, 'file')}.`;
    });
    return isValid ? 0 : 1;
  },
});
