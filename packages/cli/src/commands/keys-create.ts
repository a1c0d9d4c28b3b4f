import type { RouteOutput, Routes } from '@reeve/contract/http';
import { scopes } from '@reeve/contract/names';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { durationSeconds } from '../command-line/duration-seconds.ts';
import { oneOf, optional, text, texts } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import { note, print } from '../output/print.ts';
import { renderRecord } from '../output/record.ts';
import type { Shell } from '../shell.ts';

export const keysCreateCommand = defineCommand({
  details: [
    'Needs the scope admin. The key itself is shown this once and never again. Data: as POST /api/v1/iam/api-keys.',
  ],
  args: { label: optional('What the key is for.') },
  options: {
    label: text('TEXT', 'The same as LABEL.'),
    scope: texts('SCOPE', 'What it may do: read, write, admin; several by commas. Default: read.', {
      aliases: ['scopes'],
      completes: scopes,
    }),
    org: text('ORG', 'Bind it to an org.', { aliases: ['org-id'] }),
    team: text('TEAM', 'Bind it to a team of that org.', { aliases: ['team-id'] }),
    ttl: text(
      'DURATION',
      'How long it is good for, such as 90d, 12h or 3600 (seconds). Default: until it is revoked.',
      {
        aliases: ['ttl-secs'],
      },
    ),
  },
  examples: [
    ['reeve keys create "nightly export" --scope read', 'a key that can only read'],
    ['reeve keys create ci --scope read,write --org acme --ttl 90d', 'bound to an org, for 90 days'],
  ],
  run: async (input, shell) => {
    const { options, args } = input;
    const label = args.label ?? options.label;
    if (label === undefined || label.trim() === '')
      throw new UsageError('a key needs a LABEL that says what it is for');
    const asked =
      options.scope.length === 0 ? (['read'] as const) : options.scope.map((one) => oneOf(scopes, one, '--scope'));
    const client = await connect(shell, input);
    const key = await client.call('createApiKey', {
      body: {
        label,
        scopes: [...asked],
        ...(options.org === undefined ? {} : { org_id: options.org }),
        ...(options.team === undefined ? {} : { team_id: options.team }),
        ...(options.ttl === undefined ? {} : { ttl_secs: durationSeconds(options.ttl, '--ttl') }),
      },
    });
    print(shell, input.globals.output, key, () => newKeyText(key));
    if (input.globals.output === 'table') remindToKeep(shell);
    return 0;
  },
});

export function newKeyText(key: RouteOutput<Routes['createApiKey']>): string {
  return renderRecord([
    ['Key', key.key],
    ['Id', key.id],
    ['Label', key.label],
    ['Scopes', key.scopes.join(', ')],
    ['Org', key.org_id],
    ['Team', key.team_id],
    ['Created', key.created_at],
    ['Expires', key.expires_at],
  ]);
}

export function remindToKeep(shell: Shell): void {
  note(shell, 'Keep the key now: it is not shown again.');
}
