import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, optional } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { shippedFiles } from '../shipped-files.ts';

type Files = ReturnType<typeof shippedFiles>;

const packNames = ['coding-agents', 'flow', 'mcp', 'models'] as const;

/** Packs are stored as plain files beside the code, so that they can be read and tested as such. */
function filesOf(pack: (typeof packNames)[number] | undefined): Files {
  const files = shippedFiles(pack === undefined ? 'starter' : `packs/${pack}`);
  return new Map(
    [...files].filter(([name]) => name.endsWith('.yaml')).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

export const policyInitCommand = defineCommand({
  details: [
    'Writes policies to start from: guardrails that always hold, approvals for what is dangerous, what is allowed every day, budgets, and cases that prove all of it. Never overwrites: where one of the files exists with another content, nothing is written and it ends with 1.',
    'Packs are for agents that nobody wrote for Reeve: coding-agents for hooks, mcp for the tools of MCP servers, models for calls of models. flow is for what flows from one call to the next: labels for what a run has read, and rules on what may leave then.',
    'Data: {folder, files}.',
  ],
  args: { dir: optional('Where to; made where it does not exist. Default: policies.', 'file') },
  options: { pack: choice(packNames, 'Policies for one way in which agents come. Default: for agents in general.') },
  examples: [
    ['reeve policy init', 'into the folder policies'],
    ['reeve policy init ~/reeve/policies', 'elsewhere'],
    ['reeve policy init --pack coding-agents', 'for agents that come by hooks'],
  ],
  run: async (input, shell) => {
    const folder = input.args.dir ?? 'policies';
    const files = await missing(filesOf(input.options.pack), folder);
    for (const [file, content] of files) await write(join(folder, file), content);
    const paths = [...files.keys()].map((file) => join(folder, file));
    print(shell, input.globals.output, { folder, files: paths }, () =>
      paths.map((path) => cleanText(`Wrote ${path}`)).join('\n'),
    );
    if (input.globals.output === 'table') note(shell, nextSteps(folder));
    return 0;
  },
});

/**
 * The files that are not there yet. Checked before anything is written: half a pack beside other files would be a policy
 * that nobody intended. Packs share a file, which may be there with the same content.
 */
async function missing(files: Files, folder: string): Promise<Files> {
  const absent = new Map<string, Buffer>();
  for (const [file, content] of files) {
    const path = join(folder, file);
    const isThere = (await stat(path).catch(() => undefined)) !== undefined;
    const isSame = isThere && (await readFile(path).catch(() => undefined))?.equals(content);
    if (isThere && isSame !== true) throw new CliError(`${path} exists already; nothing was written`);
    if (!isThere) absent.set(file, content);
  }
  if (absent.size > 0) return absent;
  throw new CliError(`all files of the pack exist already in ${folder}; nothing was written`);
}

async function write(path: string, content: Buffer): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content, { flag: 'wx' });
  } catch (error) {
    throw new CliError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function nextSteps(folder: string): string {
  const path = /^[\w./~-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
  return [
    '',
    'Next:',
    `  reeve policy test ${path}      the cases in ${join(folder, '.cases')}`,
    `  reeve serve --policy ${path}   a gateway that enforces them`,
    `  reeve policy push ${path}      into a gateway that is running`,
  ].join('\n');
}
