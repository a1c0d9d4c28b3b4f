import { dataOf, explained, factsOf, readPassphrase, verifying } from '../backup/offline.ts';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { note, print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';

export const backupRestoreCommand = defineCommand({
  details: [
    'Works without a gateway. Verifies the backup as "reeve backup verify" does, and only then puts it into the folder, which must be new or empty. A restore that fails leaves no store behind.',
    'The first start on the folder writes BackupRestored into the log, ends all sessions, refuses all tokens made before, and removes open invites and links in mail. Operations in flight are treated as after a crash. What was revoked after the backup is in force again: API keys, agents’ tokens, standing grants, accounts; suspensions and spending of that time are lost.',
    'If the gateway had an anchor (SVC_AUDIT_ANCHOR), the first start also needs --accept-lost-entries.',
    'Data: as of "reeve backup verify", and data: the folder.',
  ],
  args: { file: required('A backup.', 'file') },
  options: {
    data: text('DIR', 'The data folder to make. Required.', { completes: 'file' }),
    passphraseFile: text('FILE', 'The passphrase of an encrypted backup, as its first line.', { completes: 'file' }),
  },
  examples: [
    ['reeve backup restore reeve.backup --data /var/lib/reeve', 'then: reeve serve --data /var/lib/reeve'],
    ['reeve backup restore reeve.backup --data ./rehearsal', 'to see that it works, beside the real one'],
  ],
  run: async (input, shell) => {
    const { file } = input.args;
    const { data, passphraseFile } = input.options;
    if (data === undefined) throw new UsageError('--data is missing: name the folder to restore into');
    const { options, show } = verifying(shell, file, readPassphrase(passphraseFile));
    const restored = await explained(file, ({ restoreBackup }, signal) =>
      show(restoreBackup(file, data, { ...options, signal })),
    );
    const { output } = input.globals;
    print(shell, output, { ...dataOf(file, restored), data }, () =>
      renderRecord([...factsOf(restored), ['Data', data]]),
    );
    if (output === 'table') note(shell, `Start it with: reeve serve --data ${data}`);
    const { created_at: at } = restored.manifest;
    note(
      shell,
      `warning: what was revoked after ${at} is in force again: API keys, agents' tokens, grants and accounts. Sessions and tokens end at the first start. Revoke those keys again: reeve keys list`,
    );
    return 0;
  },
});
