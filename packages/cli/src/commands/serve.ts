import { describeSettings, serve } from '@reeve/gateway';
import { Command, Option } from 'commander';

/** `reeve serve`: the one command that runs the gateway in this process. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Run the gateway: HTTP on one port, gRPC on another.')
    .option('--config <file>', 'YAML file with settings, under their names in lower case without SVC_');
  const flags = describeSettings().filter((setting) => setting.flag !== undefined);
  for (const { flag, help, byDefault, variable } of flags) {
    command.addOption(new Option(`${flag} <value>`, `${help} Default: ${byDefault}. Also: ${variable}`));
  }
  command.addHelpText('after', () => `\n${variablesHelp()}\n${examples}`);
  command.action(async (options: Record<string, string | undefined>) => {
    const { config, ...rest } = options;
    const given = Object.entries(rest).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const sources = { flags: Object.fromEntries(given.map(([name, value]) => [`--${name}`, value])) };
    process.exitCode = await serve(config === undefined ? sources : { ...sources, file: config });
  });
  return command;
}

function variablesHelp(): string {
  const rows = describeSettings().map((setting) => {
    const note = setting.idle ? ' (no effect in this version)' : '';
    return `  ${setting.variable.padEnd(32)} ${setting.byDefault.padEnd(20)} ${setting.help}${note}`;
  });
  return ['Settings: flag before variable before file before default.', ...rows].join('\n');
}

const examples = `
Examples:
  reeve serve                                     the embedded store in ~/.reeve/gateway
  reeve serve --policy ./policies --data ./data   policies and data beside the project
  reeve serve --http 127.0.0.1:0 --grpc 127.0.0.1:0 --database memory:
                                                  free ports, nothing kept`;
