import type { Assignment, FoundCommand } from './found-command.ts';
import { followCommand } from './follow-command.ts';
import type { Follower, Input } from './follower.ts';
import { Places } from './places.ts';
import type { Found } from './read-commands.ts';
import { readCommands, reserved } from './read-commands.ts';
import { redirectedActions } from './redirected.ts';
import { Budget, Unreadable } from './shell-text.ts';
import type { ShellAction } from './shell-action.ts';
import { doubtful, execution } from './shell-action.ts';
import type { Word } from './word.ts';
import { decidingVariables } from './wrapper-rules.ts';

export interface ShellSurroundings {
  /** Where it runs. Absolute. */
  readonly cwd: string;
  readonly home?: string | undefined;
  readonly watcher?: ShellWatcher | undefined;
}

/** Hears of each command, with the folders that it may run in. */
export interface ShellWatcher {
  ran(command: Word, args: readonly Word[], places: Places): void;
}

export const longestText = 65_536;
const mostCharacters = 4 * longestText;
const mostCommands = 200;
const deepestText = 12;
/** Of a command that runs others. */
const mostWords = 1000;

/**
 * What a text for a POSIX shell or bash would do: every command that it runs, also in pipelines, lists, substitutions
 * and behind wrappers, and every file that it redirects. What cannot be read is an execution of `?`, in addition to what
 * was understood. It runs and opens nothing.
 */
export function analyseShell(source: string, surroundings: ShellSurroundings): readonly ShellAction[] {
  if (source.length > longestText) return [doubtful(`the text is longer than ${longestText} characters`)];
  const analysis = new ShellAnalysis(surroundings);
  analysis.readAll(source);
  return analysis.actions;
}

class ShellAnalysis implements Follower {
  readonly #actions = new Map<string, ShellAction>();
  readonly #budget = new Budget(mostCharacters, mostCommands);
  readonly #places: Places;
  readonly #watcher: ShellWatcher | undefined;
  #depth = 0;
  #isRepeated = false;

  constructor({ cwd, home, watcher }: ShellSurroundings) {
    this.#places = new Places(cwd, home);
    this.#watcher = watcher;
  }

  get actions(): readonly ShellAction[] {
    return [...this.#actions.values()];
  }

  readAll(source: string): void {
    try {
      this.read(source);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      this.doubt(error.message);
    }
  }

  read(source: string): void {
    if (this.#depth >= deepestText) throw new Unreadable('texts for shells are nested too deeply');
    const found: Found = { commands: [], doubts: [] };
    this.#depth++;
    readCommands(source, this.#budget, found);
    for (const command of found.commands) this.#take(command);
    for (const note of found.doubts) this.doubt(note);
    this.#depth--;
  }

  run(words: readonly Word[], input: Input): void {
    const [first, ...args] = words;
    if (first === undefined) return;
    this.#budget.spendCommand();
    for (const word of args) this.#assignedByWord(first.text, word);
    const shown = args.filter(({ isHidden }) => isHidden !== true).map(({ text }) => text);
    const why = unreadableName(first);
    if (why !== undefined) return this.doubt(why, first.isHidden === true ? shown : [first.text, ...shown]);
    this.#add(execution(first.text, shown));
    this.#watcher?.ran(first, args, this.#places);
    this.#doubtSubscripts(first.text, args);
    if (args.length > mostWords) return this.doubt(`the command has more than ${mostWords} words`, [first.text]);
    followCommand(first.text.replace(/^.*\//s, ''), args, input, this);
  }

  doubt(note: string, args: readonly string[] = []): void {
    this.#add(doubtful(note, args));
  }

  move(operands: readonly Word[] | undefined): void {
    if (operands === undefined) this.#places.lose();
    else this.#places.move(operands, this.#isRepeated);
  }

  #take({ words, assignments, redirections, isRepeated }: FoundCommand): void {
    this.#isRepeated = isRepeated;
    for (const assignment of assignments) this.#assigned(assignment);
    this.run(words, inputOf(redirections));
    for (const redirection of redirections) {
      for (const action of redirectedActions(redirection, this.#places)) this.#add(action);
    }
  }

  #assigned({ name, value }: Assignment): void {
    if (decidingVariables.test(name)) this.doubt(`${name} changes what runs`, [`${name}=${value.text}`]);
    if (value.holdsCode) this.doubt(`arithmetic with ${name} may run what is in its text`, [`${name}=${value.text}`]);
  }

  /** A word that gives a value to a variable, or another name to it. */
  #assignedByWord(command: string, { text }: Word): void {
    const assigned = assigning.test(command) ? /^([A-Za-z_]\w*)(?:\[.*\])?\+?=/s.exec(text) : null;
    const named = naming.test(command) ? /^(?:-v)?([A-Za-z_]\w*)(?:\[.*\])?$/s.exec(text) : null;
    const [, name = ''] = assigned ?? named ?? [];
    if (decidingVariables.test(name)) this.doubt(`${name} changes what runs`, [text]);
    if (/^(?:declare|typeset|local|nameref)$/.test(command) && /^-[a-zA-Z]*n/.test(text))
      this.doubt('a variable may get another name', [command]);
  }

  /** Builtins evaluate the subscript of an array, also in a quoted text. */
  #doubtSubscripts(name: string, args: readonly Word[]): void {
    if (!/^(?:let|declare|typeset|local|export|readonly|unset|printf|read|test|\[)$/.test(name)) return;
    const hidden = args.find(
      ({ text, unknown }) => !unknown && /\$\(|`/.test(text.slice(text.indexOf('[') + 1)) && text.includes('['),
    );
    if (hidden !== undefined) this.doubt(`${name} may run what is in a subscript`, [name, hidden.text]);
  }

  #add(action: ShellAction): void {
    const key = JSON.stringify({ ...action, note: undefined });
    if (!this.#actions.has(key)) this.#actions.set(key, action);
  }
}

/** Commands that give values to variables, as `NAME=value` or by the name alone. */
const assigning = /^(?:export|declare|typeset|readonly|local|env|sudo|doas)$/;
const naming = /^(?:unset|read|printf|mapfile|readarray|getopts|vared)$/;

function unreadableName(word: Word): string | undefined {
  const { text, unknown, isGlob } = word;
  if (unknown) return 'the name of the command is known only when it runs';
  if (isGlob) return 'the name of the command is a pattern';
  if (text === '') return 'the name of the command is empty';
  // Also other white space, which looks like a separator and is none.
  if (/[\p{C}\p{Z}]/u.test(text.replaceAll(' ', '')))
    return 'the name of the command has characters that cannot be seen';
  if (reserved.has(text) && text !== 'time') return 'the name of the command is a word of the shell';
  if (text.startsWith('=')) return 'some shells put a path in its place';
  if (/^[A-Z][A-Za-z]*-[A-Z]\w+$/.test(text)) return 'it looks like PowerShell';
  return undefined;
}

/** The last one counts, as for the shell. */
function inputOf(redirections: FoundCommand['redirections']): Input {
  const last = redirections.findLast(({ operator, descriptor }) =>
    descriptor === '' ? operator.startsWith('<') : Number(descriptor) === 0,
  );
  if (last?.document !== undefined) return { text: last.document.text, isCertain: !last.document.hasExpansion };
  if (last?.operator === '<<<' && last.target !== undefined)
    return { text: last.target.text, isCertain: !last.target.unknown };
  return undefined;
}
