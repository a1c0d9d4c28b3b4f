import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { serveCommand } from './commands/serve.ts';

const program = new Command('reeve')
  .description('The agent governance gateway.')
  .version(manifest.version)
  .showHelpAfterError('Run with --help for the options.')
  .exitOverride();
program.addCommand(serveCommand());
for (const command of program.commands) command.copyInheritedSettings(program);

try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  // Commander has said what is wrong; asking for help or the version is no mistake.
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
