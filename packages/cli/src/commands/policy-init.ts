import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, optional } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';

/** Packs are stored as plain files beside the code, so that they can be read and tested as such. */
const starter = fileURLToPath(new URL('../../starter', import.meta.url));
const packNames = ['coding-agents', 'mcp', 'models'] as const;

function folderOf(pack: (typeof packNames)[number] | undefined): string {
  return pack === undefined ? starter : fileURLToPath(new URL(`../../packs/${pack}`, import.meta.url));
}

export const policyInitCommand = defineCommand({
  details: [
    'Writes policies to start from: guardrails that always hold, approvals for what is dangerous, what is allowed every day, budgets with prices, and cases that prove all of it. Never overwrites: where one of the files exists with another content, nothing is written and it ends with 1.',
    'Packs are for agents that nobody wrote for Reeve: coding-agents for hooks, mcp for the tools of MCP servers, models for calls of models.',
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
    const pack = folderOf(input.options.pack);
    const all = (await readdir(pack, { recursive: true })).filter((name) => name.endsWith('.yaml')).sort();
    const files = await missing(pack, folder, all);
    for (const file of files) await copy(join(pack, file), join(folder, file));
    const paths = files.map((file) => join(folder, file));
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
async function missing(pack: string, folder: string, files: readonly string[]): Promise<readonly string[]> {
  const absent: string[] = [];
  for (const file of files) {
    const path = join(folder, file);
    const isThere = (await stat(path).catch(() => undefined)) !== undefined;
    const isSame = isThere && (await readFile(path).catch(() => undefined))?.equals(await readFile(join(pack, file)));
    if (isThere && isSame !== true) throw new CliError(`${path} exists already; nothing was written`);
    if (!isThere) absent.push(file);
  }
  if (absent.length > 0) return absent;
  throw new CliError(`all files of the pack exist already in ${folder}; nothing was written`);
}

async function copy(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, await readFile(from), { flag: 'wx' });
  } catch (error) {
    throw new CliError(`cannot write ${to}: ${error instanceof Error ? error.message : String(error)}`, {
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
