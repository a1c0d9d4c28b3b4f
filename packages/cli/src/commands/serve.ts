import { describeSettings, serve } from '@reeve/gateway';
import type { Option } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, text } from '../command-line/values.ts';
import { dashboardFiles } from '../shipped-files.ts';

const flags = describeSettings().filter((setting) => setting.flag !== undefined);
const config = text('FILE', 'YAML file with settings, under their names in lower case without SVC_.', {
  completes: 'file',
});
const settings = flags.map(({ flag, help, byDefault, variable }): [string, Option<string | undefined>] => [
  (flag ?? '').slice(2),
  text('VALUE', `${help} Default: ${byDefault}. Also: ${variable}.`),
]);

/** `reeve serve`: the one command that runs the gateway in this process. */
export const serveCommand = defineCommand({
  args: {},
  options: {
    config,
    'accept-lost-entries': flag(
      'Start although the audit log does not contain its newest anchored entry (SVC_AUDIT_ANCHOR). This is audited.',
    ),
    restored: flag(
      'The database was restored by other tools, such as pg_restore: end all sessions and tokens, and record it. Once, and with no other gateway on it.',
    ),
    ...Object.fromEntries(settings),
  },
  examples: [
    ['reeve serve', 'the embedded store in ~/.reeve/gateway'],
    ['reeve serve --policy ./policies --data ./data', 'policies and data beside the project'],
    ['reeve serve --http 127.0.0.1:0 --grpc 127.0.0.1:0 --database memory:', 'free ports, nothing kept'],
  ],
  appendix: variablesHelp(),
  run: async ({ options }) => {
    const { 'accept-lost-entries': acceptLostEntries, restored: isRestored, ...texts } = options;
    const given = Object.entries<string | undefined>(texts).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const { config: file, ...rest } = Object.fromEntries(given);
    const sources = { flags: Object.fromEntries(Object.entries(rest).map(([name, value]) => [`--${name}`, value])) };
    const hooks = { acceptLostEntries, isRestored };
    return serve(file === undefined ? sources : { ...sources, file }, dashboardFiles, hooks);
  },
});

function variablesHelp(): string {
  const rows = describeSettings().map(
    ({ variable, byDefault, help }) => `  ${variable.padEnd(32)} ${byDefault.padEnd(20)} ${help}`,
  );
  return ['Settings: flag before variable before file before default.', ...rows].join('\n');
}
