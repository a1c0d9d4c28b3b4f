import { dataOf, explained, factsOf, readPassphrase, verifying } from '../backup/offline.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';

export const backupVerifyCommand = defineCommand({
  details: [
    'Works without a gateway. Checks the form and the checksums of all parts, the version and the pages of the store, and the whole chain of the log. Says what is wrong and ends with 1.',
    'It unpacks the store into the folder for temporary files (TMPDIR), readable by you alone, and removes it afterwards.',
    'Data: {file, format, reeve_version, created_at, schema_version, head: {seq, hash}, entries, first_seq, cut_at, policies: included|elsewhere, counts: {agents, api_keys, accounts, policies, operations}, parts: [{name, bytes, sha256}]}.',
  ],
  args: { file: required('A backup.', 'file') },
  options: {
    passphraseFile: text('FILE', 'The passphrase of an encrypted backup, as its first line.', { completes: 'file' }),
  },
  examples: [
    ['reeve backup verify reeve.backup', 'that it is whole and can be restored'],
    ['reeve backup verify reeve.backup --output json', 'for a monitor'],
  ],
  run: async (input, shell) => {
    const { file } = input.args;
    const { scratch, options, show } = verifying(shell, file, readPassphrase(input.options.passphraseFile));
    const verified = await explained(file, ({ verifyBackup }, signal) =>
      show(verifyBackup(file, scratch, { ...options, signal })),
    );
    print(shell, input.globals.output, dataOf(file, verified), () => renderRecord(factsOf(verified)));
    return 0;
  },
});
