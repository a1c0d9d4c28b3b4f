import type { Effects } from './check-builtin.ts';
import { checkBuiltin } from './check-builtin.ts';
import { doubtOfAssignment, doubtOfExport } from './doubt-of-variable.ts';
import type { Found, FoundCommand } from './found-command.ts';
import { followCommand } from './follow-command.ts';
import type { Input } from './follower.ts';
import { Places } from './places.ts';
import { readCommands } from './read-commands.ts';
import { redirectedActions } from './redirected.ts';
import { reservedWords } from './reserved-words.ts';
import type { Dialect } from './shell-text.ts';
import { Budget, Unreadable } from './shell-text.ts';
import type { ShellAction } from './shell-action.ts';
import { doubtful, execution } from './shell-action.ts';
import { Variables } from './variables.ts';
import type { Word } from './word.ts';

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
 * What a text for bash would do: every command that it runs, also in pipelines, lists, substitutions and behind wrappers,
 * and every file that it redirects. What is outside of the grammar is an execution of `?`, in addition to what was
 * understood. It runs and opens nothing.
 */
export function analyseShell(source: string, surroundings: ShellSurroundings): readonly ShellAction[] {
  if (source.length > longestText)
    return [doubtful(`the text is longer than ${longestText} characters`, surroundings.cwd)];
  const analysis = new ShellAnalysis(surroundings);
  analysis.readAll(source);
  return analysis.actions;
}

/** Builtins that give a text to the shell that runs them. What others give goes to `sh`. */
const ownTexts = new Set(['eval', 'trap', 'alias', 'source', '.']);

class ShellAnalysis implements Effects {
  dialect: Dialect = 'bash';
  readonly #actions = new Map<string, ShellAction>();
  readonly #budget = new Budget(mostCharacters, mostCommands);
  readonly #variables = new Variables();
  readonly #places: Places;
  readonly #watcher: ShellWatcher | undefined;
  #textDialect: Dialect = 'bash';
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
    const { unsafe } = this.#variables;
    if (unsafe !== undefined) this.doubt(`arithmetic may run what is in ${unsafe}`, [unsafe]);
    const { readAgain } = this.#variables;
    if (readAgain !== undefined) this.doubt(`${readAgain} may get a text that bash reads again`, [readAgain]);
    for (const { name, value } of this.#variables.exported)
      this.#doubtVariable(name, value, doubtOfExport(name, value, []));
  }

  read(source: string, dialect = this.#textDialect): void {
    if (this.#depth >= deepestText) throw new Unreadable('texts for shells are nested too deeply');
    const found: Found = { dialect, commands: [], doubts: [], evaluated: [], hasNumbers: false, hasFunctions: false };
    const outer = this.dialect;
    this.dialect = dialect;
    this.#depth++;
    readCommands(source, this.#budget, found);
    for (const command of found.commands) this.#take(command);
    for (const name of found.evaluated) this.evaluate(name);
    if (found.hasNumbers) this.count();
    if (found.hasFunctions) this.unsettle();
    for (const note of found.doubts) this.doubt(note);
    this.#depth--;
    this.dialect = outer;
  }

  run(words: readonly Word[], input: Input): void {
    this.#run(words, input, false);
  }

  doubt(note: string, args: readonly string[] = []): void {
    this.#add(doubtful(note, this.#places.inWords(), args));
  }

  move(operands: readonly Word[] | undefined): void {
    if (operands === undefined) this.#places.lose();
    else this.#places.move(operands, this.#isRepeated);
  }

  assign(name: string, value: Word | undefined): void {
    this.#variables.assign(name, value);
    this.#doubtVariable(name, value, doubtOfAssignment(name, value, []));
  }

  export(name: string, value: Word | undefined, command: readonly Word[]): void {
    this.#variables.assign(name, value);
    this.#doubtVariable(name, value, doubtOfExport(name, value, command));
  }

  array(name: string): void {
    this.#variables.array(name);
  }

  declare(name: string): void {
    this.#variables.declare(name);
  }

  exportNamed(name: string | undefined): void {
    this.#variables.export(name);
  }

  evaluate(name: string): void {
    this.#variables.evaluate(name);
  }

  count(): void {
    this.#variables.count();
  }

  unsettle(): void {
    this.#variables.unsettle();
  }

  #take({ words, assignments, redirections, isRepeated }: FoundCommand): void {
    this.#isRepeated = isRepeated;
    for (const { name, value, isArray } of assignments) {
      if (isArray === true) this.array(name);
      if (words.length > 0) this.export(name, value, words);
      else this.assign(name, value);
    }
    this.#run(words, inputOf(redirections), true);
    for (const redirection of redirections) {
      for (const action of redirectedActions(redirection, this.#places)) this.#add(action);
    }
  }

  #run(words: readonly Word[], input: Input, isDirect: boolean): void {
    const [first, ...args] = words;
    if (first === undefined) return;
    this.#budget.spendCommand();
    const shown = args.filter(({ isHidden }) => isHidden !== true).map(({ text }) => text);
    const why = unreadableName(first);
    if (why !== undefined) return this.doubt(why, first.isHidden === true ? shown : [first.text, ...shown]);
    this.#add(execution(first.text, shown, this.#places.inWords()));
    this.#watcher?.ran(first, args, this.#places);
    if (args.length > mostWords) return this.doubt(`the command has more than ${mostWords} words`, [first.text]);
    const name = first.text.slice(first.text.lastIndexOf('/') + 1);
    checkBuiltin(name, args, this, isDirect);
    const outer = this.#textDialect;
    this.#textDialect = ownTexts.has(name) ? this.dialect : 'posix';
    followCommand(name, args, input, this);
    this.#textDialect = outer;
  }

  #doubtVariable(name: string, value: Word | undefined, why: string | undefined): void {
    if (why !== undefined) this.doubt(why, [`${name}=${value?.text ?? ''}`]);
  }

  #add(action: ShellAction): void {
    const key = JSON.stringify({ ...action, note: undefined });
    if (!this.#actions.has(key)) this.#actions.set(key, action);
  }
}

function unreadableName(word: Word): string | undefined {
  const { text, unknown, isGlob } = word;
  if (unknown) return 'the name of the command is known only when it runs';
  if (isGlob) return 'the name of the command is a pattern';
  if (text === '') return 'the name of the command is empty';
  // Also other white space, which looks like a separator and is none.
  if (/[\p{C}\p{Z}]/u.test(text.replaceAll(' ', '')))
    return 'the name of the command has characters that cannot be seen';
  if (reservedWords.has(text) && text !== 'time') return 'the name of the command is a word of the shell';
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
