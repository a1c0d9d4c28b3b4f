import { posix } from 'node:path';

const { readdirSync } = process.getBuiltinModule('node:fs');

const mostEntries = 20_000;
const mostFound = 100;

/** The files that a pattern stands for now, as a shell finds them. Undefined if there are too many to look at. */
export function expandPattern(pattern: string): readonly string[] | undefined {
  let looked = 0;
  let found = ['/'];
  for (const part of pattern.split('/').filter((each) => each !== '')) {
    if (!/[*?[]/.test(part)) {
      found = found.map((folder) => posix.join(folder, part));
      continue;
    }
    const next: string[] = [];
    for (const folder of found) {
      for (const name of namesIn(folder)) {
        if (++looked > mostEntries) return undefined;
        if (fits(name, part)) next.push(posix.join(folder, name));
      }
    }
    if (next.length > mostFound) return undefined;
    found = next;
  }
  return found;
}

/** Whether a pattern may stand for a place, or for something inside of it. */
export function mayLeadInto(pattern: string, place: string): boolean {
  const parts = pattern.split('/');
  const names = place.split('/');
  return names.length <= parts.length && names.every((name, at) => fits(name, parts[at] ?? ''));
}

/** A name with a dot in front is meant only by a pattern with one. */
function fits(name: string, part: string): boolean {
  return (part.startsWith('.') || !name.startsWith('.')) && matches(name, part);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
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
