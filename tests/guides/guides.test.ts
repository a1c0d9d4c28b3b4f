import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Ran } from './guide-shell.ts';
import { eventually } from '../harness/eventually.ts';
import { GuideShell } from './guide-shell.ts';
import type { Block } from './read-guide.ts';
import { blocksOf, commandsOf } from './read-guide.ts';
import type { Names } from './same-output.ts';
import { differenceOf } from './same-output.ts';

/** Why a block is not run here. A block with another reason, or one that does not run and gives none, is a fault. */
const reasons: ReadonlySet<string> = new Set([
  'needs Docker',
  'needs Kubernetes',
  'needs another machine',
  'needs a terminal',
  'needs a provider of models',
  'needs a sign-on provider',
  'needs an issuer of tokens',
  'needs PostgreSQL and NATS',
  'installs from a registry',
  'is a choice of the reader',
]);

const guides = [
  'README.md',
  'docs/getting-started.md',
  ...readdirSync('docs/guides').map((name) => `docs/guides/${name}`),
].filter((file) => blocksOf(readFileSync(file, 'utf8')).some(isRun));

function isRun({ language, notRun }: Block): boolean {
  return language === 'sh' && notRun === undefined;
}

describe.concurrent('the commands of', () => {
  test.each(guides)('%s run as they stand', async (file) => {
    const blocks = blocksOf(readFileSync(file, 'utf8'));
    await using shell = await GuideShell.start();
    const reader = new Reader(shell);
    for (const block of blocks) {
      const place = `${file}:${block.line}`;
      if (block.notRun !== undefined) expect(reasons, place).toContain(block.notRun);
      if (block.file !== undefined) shell.write(block.file, block.text);
      await reader.compare(block, place);
      await reader.follow(block, place);
    }
  });
});

/** Types the commands of a guide, and keeps what was answered. */
class Reader {
  readonly #shell: GuideShell;
  /** What stands here in place of what the guide shows. */
  readonly #names: Names = new Map();
  /** The newest id, token or key of each kind, by how it begins. */
  readonly #newest = new Map<string, string>();
  #last: { readonly block: Block; readonly place: string; readonly ran: Ran } | undefined;

  constructor(shell: GuideShell) {
    this.#shell = shell;
  }

  /** A text right after a command is what the command prints. What goes on running may print it later. */
  async compare({ language, text, isAdjacent }: Block, place: string): Promise<void> {
    const last = this.#last;
    if (!isAdjacent || last === undefined || !['text', 'json'].includes(language)) return;
    let { ran } = last;
    await eventually(
      async () => {
        const { stdout, stderr } = ran.now?.() ?? ran;
        const difference = differenceOf(text, stdout, this.#names) && differenceOf(text, stdout + stderr, this.#names);
        if (difference !== undefined && last.block.isRepeated) ran = await this.#typeAll(last.block, last.place);
        expect(difference, `${place}\n${stdout}${stderr}`).toBeUndefined();
      },
      ran.now === undefined && !last.block.isRepeated ? 1 : 200,
    );
  }

  async follow(block: Block, place: string): Promise<void> {
    this.#last = undefined;
    if (!isRun(block)) return;
    for (const command of block.first) await this.#type(command, place, 0);
    this.#last = { block, place, ran: await this.#typeAll(block, place) };
  }

  async #typeAll({ text, endsWith }: Block, place: string): Promise<Ran> {
    const commands = commandsOf(text);
    const all: Ran[] = [];
    for (const [at, command] of commands.entries()) {
      all.push(await this.#type(command, place, at === commands.length - 1 ? endsWith : 0));
    }
    const now = () => {
      const said = all.map((ran) => ran.now?.() ?? ran);
      return { stdout: said.map(({ stdout }) => stdout).join(''), stderr: said.map(({ stderr }) => stderr).join('') };
    };
    return { code: 0, ...now(), ...(all.some((ran) => ran.now !== undefined) ? { now } : {}) };
  }

  async #type(command: string, place: string, wanted: number): Promise<Ran> {
    const longestFirst = [...this.#names].toSorted(([one], [other]) => other.length - one.length);
    const typed = longestFirst.reduce((text, [shown, came]) => text.replaceAll(shown, came), command);
    const filled = typed.replaceAll(/\b([a-z]{3}_)…/g, (mark, kind: string) => this.#newest.get(kind) ?? mark);
    const ran = await this.#shell.run(filled);
    expect(ran.code, `${place}: ${filled}\n${ran.stdout}${ran.stderr}`).toBe(wanted);
    for (const [id, kind = ''] of ran.stdout.matchAll(/\b([a-z]{3}_)[\w-]{8,}/g)) {
      if (kind !== 'rvk_') this.#newest.set(kind, id);
    }
    return ran;
  }
}
