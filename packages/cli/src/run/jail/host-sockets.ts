import { lstatSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/**
 * The Unix sockets of the host that have a path: those that the kernel lists, and those that somebody has mounted into
 * this place, as containers do. A read-only mount keeps nobody from connecting to them.
 */
export function hostSockets(): readonly string[] {
  return [...new Set([...listed(), ...mounted()])].filter(isSocket);
}

function listed(): readonly string[] {
  return linesOf('/proc/net/unix').flatMap((line) => {
    const path = line.trimStart().split(/\s+/).slice(7).join(' ');
    return isAbsolute(path) ? [path] : [];
  });
}

function mounted(): readonly string[] {
  return linesOf('/proc/self/mountinfo').flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescaped(point)];
  });
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
export function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}
