import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { optional } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';

/** The pack is stored as plain files beside the code, so that it can be read and tested as such. */
const starter = fileURLToPath(new URL('../../starter', import.meta.url));

export const policyInitCommand = defineCommand({
  details: [
    'Writes policies to start from: guardrails that always hold, approvals for what is dangerous, what is allowed every day, budgets with prices, and cases that prove all of it. Never overwrites: where one of the files exists, nothing is written and it ends with 1.',
    'Data: {folder, files}.',
  ],
  args: { dir: optional('Where to; made where it does not exist. Default: policies.', 'file') },
  options: {},
  examples: [
    ['reeve policy init', 'into the folder policies'],
    ['reeve policy init ~/reeve/policies', 'elsewhere'],
  ],
  run: async (input, shell) => {
    const folder = input.args.dir ?? 'policies';
    const files = (await readdir(starter, { recursive: true })).filter((name) => name.endsWith('.yaml')).sort();
    await refuseExisting(folder, files);
    for (const file of files) await copy(join(starter, file), join(folder, file));
    const paths = files.map((file) => join(folder, file));
    print(shell, input.globals.output, { folder, files: paths }, () =>
      paths.map((path) => cleanText(`Wrote ${path}`)).join('\n'),
    );
    if (input.globals.output === 'table') note(shell, nextSteps(folder));
    return 0;
  },
});

/** Checks before anything is written. Half a pack beside other files would be a policy that nobody intended. */
async function refuseExisting(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const path = join(folder, file);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) throw new CliError(`${path} exists already; nothing was written`);
  }
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
