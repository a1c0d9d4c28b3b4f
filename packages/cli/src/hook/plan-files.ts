import type { HookAction, PlannedAction } from './hook-event.ts';
import type { Machine } from './own-places.ts';
import { mayLeadInto } from './expand-pattern.ts';
import { changesProgram, isInside } from './own-places.ts';
import type { ShellWatcher } from './shell/analyse-shell.ts';
import { fileOperands } from './shell/file-operands.ts';
import type { Places } from './shell/places.ts';
import { unreadable } from './shell/shell-action.ts';
import type { Word } from './shell/word.ts';

/** More words than a person gives to a program by hand. */
const mostWords = 100;

/** Gathers what the commands of a line do to files that their words name, in the folders that they may run in. */
export class FileWatcher implements ShellWatcher {
  readonly #machine: Machine;
  readonly #found = new Map<string, PlannedAction>();

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  get actions(): readonly PlannedAction[] {
    return [...this.#found.values()];
  }

  ran(command: Word, args: readonly Word[], places: Places): void {
    const name = command.text.replace(/^.*\//s, '');
    const operands = fileOperands(name, args);
    const workingDir = places.inWords();
    for (const { operation, word, isDeep } of operands ?? []) {
      const paths = places.operandPaths(word);
      if (paths === 'unknown') continue;
      if (paths === 'lost') {
        const note = `${word.text} is in a folder that is known only when it runs`;
        const action: HookAction = { type: 'process_exec', command: unreadable, args: [name, word.text], workingDir };
        this.#add({ action, note });
        continue;
      }
      for (const path of paths) {
        if (harmless.test(path)) continue;
        this.#add({ action: { type: 'file_operation', operation, path }, isDeep, isPattern: word.isGlob });
      }
    }
    const named = new Set(operands?.map(({ word }) => word));
    this.#touchOwn(
      args.filter((word) => !named.has(word)),
      places,
    );
    this.#startOwn(command, args, places);
  }

  /** A program may read and write whatever other words tell it. That matters where it is Reeve's own. */
  #touchOwn(args: readonly Word[], places: Places): void {
    const { own } = this.#machine;
    if (own === undefined) return;
    for (const word of args.slice(0, mostWords)) {
      const part = { ...word, text: word.text.replace(/^[\w-]*=/, '') };
      const paths = [...listOf(places.operandPaths(word)), ...listOf(places.operandPaths(part))];
      for (const path of new Set(paths)) {
        if (own.isOfProgram(path) && !own.isProgram(path)) this.#add(changesProgram);
        for (const place of [own.folder, ...own.settings]) {
          const isMatch = word.isGlob && mayLeadInto(path, place);
          if (!isMatch && !isInside(path, place)) continue;
          const touched = isMatch ? place : path;
          for (const operation of ['read', 'write'])
            this.#add({ action: { type: 'file_operation', operation, path: touched }, isReal: true });
        }
      }
    }
  }

  /** Reeve itself, however it is started: by its path, by a link, by an interpreter. Rules know it by its name. */
  #startOwn(command: Word, args: readonly Word[], places: Places): void {
    const { own } = this.#machine;
    if (own === undefined || command.unknown) return;
    const words = [command, ...args.slice(0, mostWords)];
    words.forEach((word, at) => {
      const isBare = at === 0 && !word.text.includes('/');
      const found = isBare ? [own.find(word.text) ?? ''] : listOf(places.operandPaths(word));
      if (!found.some((path) => path !== '' && own.isProgram(path))) return;
      const rest = args.slice(at).map(({ text }) => text);
      const action: HookAction = { type: 'process_exec', command: 'reeve', args: rest, workingDir: places.inWords() };
      this.#add({ action, note: `started as ${word.text}`, isReal: true });
    });
  }

  #add(planned: PlannedAction): void {
    const key = JSON.stringify([planned.action, planned.isDeep ?? false]);
    if (!this.#found.has(key)) this.#found.set(key, planned);
  }
}

const harmless = /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|fd\/\d+)$/;

function listOf(paths: readonly string[] | 'unknown' | 'lost'): readonly string[] {
  return typeof paths === 'string' ? [] : paths;
}
