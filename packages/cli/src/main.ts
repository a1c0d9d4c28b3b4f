import { CliError, InterruptedError } from './cli-error.ts';
import { parseCommandLine } from './command-line/parse-command-line.ts';
import { commandTable } from './command-table.ts';
import type { Shell } from './shell.ts';

/** Runs the command line of this process. The exit code is 0 for done, 1 for failed, 2 for usage. */
export async function main(): Promise<void> {
  try {
    process.exitCode = await run(process.argv.slice(2));
  } catch (error) {
    process.exitCode = await explain(error);
  }
}

/** The reader of the output has seen enough, as in `reeve logs | head`. */
function onStdoutError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
}

/** Its listener is added once: a command may take it away. */
let opened: NodeJS.WriteStream | undefined;

/** Node opens each stream on first access, which takes time. So only used streams are opened. */
const shell: Shell = {
  env: process.env,
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    opened ??= process.stdout.on('error', onStdoutError);
    return opened;
  },
  get stderr() {
    return process.stderr;
  },
};

/** The members of the shell are looked up when they are used. */
const wideShell: Shell = Object.create(shell, { isWide: { value: true } }) as Shell;

async function run(argv: readonly string[]): Promise<number> {
  if (argv[0] === 'complete' && argv[1] === '--') {
    return (await import('./commands/complete.ts')).printCandidates(shell, argv.slice(2));
  }
  if (argv[0] === 'demo-part') return (await import('./demo/demo-part.ts')).playPart(shell, argv.slice(1), run);
  const parsed = await parseCommandLine(commandTable, argv);
  switch (parsed.kind) {
    case 'run':
      return parsed.command.run(parsed.input, parsed.input.globals.isWide ? wideShell : shell);
    case 'version':
      return (await import('./commands/version.ts')).showVersion(shell, parsed.globals);
    case 'help': {
      const { helpText } = await import('./command-line/help-text.ts');
      const text = await helpText(commandTable, parsed.path);
      (parsed.isMisused ? shell.stderr : shell.stdout).write(text);
      return parsed.isMisused ? 2 : 0;
    }
  }
}

async function explain(error: unknown): Promise<number> {
  if (error instanceof InterruptedError) {
    // Ends as if the terminal had killed the process, so that the surrounding shell sees why.
    process.kill(process.pid, 'SIGINT');
    return 130;
  }
  if (!(error instanceof CliError)) throw error;
  const { cleanLines } = await import('./output/clean-text.ts');
  shell.stderr.write(`${error.bare ? '' : 'error: '}${cleanLines(error.message)}\n`);
  return error.exitCode;
}
