import type { Dirent } from 'node:fs';
import { posix } from 'node:path';

const { readdirSync } = process.getBuiltinModule('node:fs');

const mostEntries = 20_000;
const mostFound = 100;

/**
 * The files that a pattern stands for now, as a shell finds them. `**` is any number of folders, as it is for zsh, and for
 * bash once it is told so. Undefined if there are too many to look at.
 */
export function expandPattern(pattern: string): readonly string[] | undefined {
  const look = new Look();
  let found = ['/'];
  for (const part of pattern.split('/').filter((each) => each !== '')) {
    if (part === '**') found = [...new Set(found.flatMap((folder) => look.below(folder)))];
    else if (!/[*?[]/.test(part)) found = found.map((folder) => posix.join(folder, part));
    else found = found.flatMap((folder) => look.matching(folder, part));
    if (look.isTooMuch) return undefined;
  }
  return found.length > mostFound ? undefined : found;
}

/** Looks into folders, up to a bound. */
class Look {
  #entries = 0;

  get isTooMuch(): boolean {
    return this.#entries > mostEntries;
  }

  matching(folder: string, part: string): string[] {
    return this.#entriesOf(folder).flatMap(({ name }) => (fits(name, part) ? [posix.join(folder, name)] : []));
  }

  /** The folder itself, and whatever is below it. Shells do not go through links here. */
  below(folder: string): string[] {
    const found = [folder];
    const folders = [folder];
    for (const each of folders) {
      for (const entry of this.#entriesOf(each).filter(({ name }) => fits(name, '*'))) {
        const path = posix.join(each, entry.name);
        found.push(path);
        if (entry.isDirectory()) folders.push(path);
      }
    }
    return found;
  }

  #entriesOf(folder: string): readonly Dirent[] {
    if (this.isTooMuch) return [];
    const entries = entriesIn(folder);
    this.#entries += entries.length;
    return entries;
  }
}

/** Whether a pattern may stand for a place, or for something inside of it. */
export function mayLeadInto(pattern: string, place: string): boolean {
  const names = place.split('/');
  // How many of the names the parts so far may stand for.
  let reached = new Set([0]);
  for (const part of pattern.split('/')) {
    const next = new Set<number>();
    for (const count of reached) {
      const name = names[count];
      if (part !== '**') {
        if (name !== undefined && fits(name, part)) next.add(count + 1);
        continue;
      }
      next.add(count);
      for (let more = count; fits(names[more] ?? '.', '*'); more++) next.add(more + 1);
    }
    if (next.has(names.length)) return true;
    reached = next;
  }
  return false;
}

/** A name with a dot in front is meant only by a pattern with one. */
function fits(name: string, part: string): boolean {
  return (part.startsWith('.') || !name.startsWith('.')) && matches(name, part);
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Whether a name fits. A class in brackets counts as any character: more may be found, never less. Linear but for one star. */
function matches(name: string, pattern: string): boolean {
  const parts = pattern.replaceAll(/\[[^\]]*(?:\]|$)/g, (part) => (part.endsWith(']') ? '?' : part));
  let at = 0;
  let star = -1;
  let mark = 0;
  for (let place = 0; place < name.length; ) {
    if (at < parts.length && (parts[at] === '?' || parts[at] === name[place]) && parts[at] !== '*') {
      at++;
      place++;
    } else if (parts[at] === '*') {
      star = at++;
      mark = place;
    } else if (star >= 0) {
      at = star + 1;
      place = ++mark;
    } else return false;
  }
  while (parts[at] === '*') at++;
  return at === parts.length;
}
