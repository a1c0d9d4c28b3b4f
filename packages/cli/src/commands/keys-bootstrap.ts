import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { text } from '../command-line/values.ts';
import { print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import { variable } from '../shell.ts';
import { remindToKeep } from './keys-create.ts';

export const keysBootstrapCommand = defineCommand({
  details: [
    'For the machine of the gateway, when no admin key is at hand: it opens the store itself and asks nobody. The new key may do everything, is bound to no tenant, and is shown this once. Keys from before go on working: revoke the lost one with the new one. The audit log has it (ApiKeyCreated).',
    'Stop the gateway first, and run this as the user that it runs as. Without --data the folder is that of SVC_DATA_DIR. With PostgreSQL, start a gateway with a new key in SVC_BOOTSTRAP_API_KEY instead.',
    'Data: {key, id, label, scopes, created_at}.',
  ],
  args: {},
  options: { data: text('DIR', 'The data folder of the gateway.', { completes: 'file' }) },
  examples: [['reeve keys bootstrap --data ~/.reeve/gateway', 'the gateway is stopped']],
  run: async ({ options, globals }, shell) => {
    const dataDir = options.data ?? variable(shell, 'SVC_DATA_DIR');
    if (dataDir === undefined) throw new UsageError('which store? Give --data DIR');
    const { key, record } = await bootstrapKey(dataDir);
    const { id, label, scopes } = record;
    const created = new Date(record.createdAt).toISOString();
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

/** The gateway's own code makes the key, so that both agree on what a key is. It is loaded only here. */
async function bootstrapKey(dataDir: string) {
  const { bootstrapKeyIn } = await import('@reeve/gateway/offline-keys');
  try {
    return await bootstrapKeyIn(dataDir);
  } catch (error) {
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
