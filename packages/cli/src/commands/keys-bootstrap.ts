import { bootstrapKeyOffline } from '../accounts/offline.ts';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { variable } from '../shell.ts';
import { remindToKeep } from './keys-create.ts';

export const keysBootstrapCommand = defineCommand({
  details: [
    'For the machine of the gateway, when no admin key is at hand. A gateway that runs makes the key, by a socket in its data folder that only its user can use; while it is stopped, the store itself is opened. The new key may do everything, is bound to no tenant, and is shown this once. Keys from before go on working: revoke the lost one with the new one. The audit log has it (ApiKeyCreated).',
    'Run this as the user that the gateway runs as. Without --data the folder is that of SVC_DATA_DIR. With PostgreSQL, start a gateway with a new key in SVC_BOOTSTRAP_API_KEY instead.',
    'Data: {key, id, label, scopes, created_at}.',
  ],
  args: {},
  options: { data: text('DIR', 'The data folder of the gateway.', { completes: 'file' }) },
  examples: [['reeve keys bootstrap --data ~/.reeve/gateway', 'whether the gateway runs or not']],
  run: async ({ options, globals }, shell) => {
    const dataDir = options.data ?? variable(shell, 'SVC_DATA_DIR');
    if (dataDir === undefined) throw new UsageError('which store? Give --data DIR');
    const { key, id, label, scopes, createdAt } = await bootstrapKeyOffline(dataDir);
    const created = new Date(createdAt).toISOString();
    print(shell, globals.output, { key, id, label, scopes: [...scopes], created_at: created }, () =>
      renderRecord([
        ['Key', key],
        ['Id', id],
        ['Label', label],
        ['Scopes', scopes.join(', ')],
        ['Created', created],
      ]),
    );
    if (globals.output === 'table') remindToKeep(shell);
    return 0;
  },
});
