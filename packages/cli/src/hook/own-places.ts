import { posix } from 'node:path';
import type { PlannedAction } from './hook-event.ts';

/** What a hook knows of the machine that it runs on. */
export interface Machine {
  readonly home: string;
  readonly own?: OwnPlaces | undefined;
}

/** What is Reeve's own on this machine: an agent that changes it takes off its hook, or speaks for somebody else. */
export interface OwnPlaces {
  /** The folder with tokens and sessions. */
  readonly folder: string;
  /** The settings of hosts, which name the hooks. */
  readonly settings: readonly string[];
  /** Whether a file, after all links, is the program of this command. */
  isProgram(path: string): boolean;
  /** Whether a file belongs to it. */
  isOfProgram(path: string): boolean;
  /** Whether who writes there may change the program, or the Node that it runs on. A folder may be replaced as a whole. */
  isChangedAt(path: string, isDeep: boolean): boolean;
  /** Where a program of this name is. */
  find(name: string): string | undefined;
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/** What else the use of a file does: a folder is used with what is in it, and the program of the hook may be changed. */
export function withOwnPlaces(actions: readonly PlannedAction[], own: OwnPlaces): readonly PlannedAction[] {
  const more = actions.flatMap(({ action, isDeep = false }): readonly PlannedAction[] => {
    if (action.type !== 'file_operation' || !action.path.startsWith('/')) return [];
    const { operation } = action;
    const path = posix.resolve(action.path);
    const places = operation === 'read' ? [own.folder] : [own.folder, ...own.settings];
    const inside = isDeep ? places.filter((place) => place !== path && isInside(place, path)) : [];
    const found: PlannedAction[] = inside.map((place) => ({
      action: { ...action, path: place },
      note: `inside of ${path}`,
      isReal: true,
    }));
    if (operation === 'read' ? own.isProgram(path) && isDeep : own.isChangedAt(path, isDeep))
      found.push(changesProgram);
    return found;
  });
  return more.length === 0 ? actions : [...actions, ...more];
}

export const changesProgram: PlannedAction = {
  action: { type: 'process_exec', command: '?', args: ['reeve'] },
  note: 'it would change the program of this hook',
  isReal: true,
};
