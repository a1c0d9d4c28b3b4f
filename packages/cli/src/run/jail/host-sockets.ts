import { lstatSync, readFileSync } from 'node:fs';

/**
 * The Unix sockets of the host that have a path: those that the kernel lists, and those that somebody has mounted into
 * this place, as containers do. A read-only mount keeps nobody from connecting to them.
 */
export function hostSockets(): readonly string[] {
  return [...new Set([...listed(), ...mounted()])]
    .map((path) => Buffer.from(path, 'latin1'))
    .filter(isSocket)
    .map(String);
}

function listed(): readonly string[] {
  // A name may have blanks and newlines, which the kernel writes as they are.
  return textOf('/proc/net/unix')
    .slice(0, -1)
    .split(/\n(?=[0-9a-f]+: [0-9A-F]{8} )/)
    .flatMap((line) => /^\S+: (?:\S+ +){5}\S+ (\/.*)$/s.exec(line)?.[1] ?? []);
}

function mounted(): readonly string[] {
  return textOf('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map(unescaped);
}

/** The kernel writes space, tab, newline and backslash as octal numbers. */
export function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** With a character for each byte: a name need not be UTF-8. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function isSocket(path: Buffer): boolean {
  try {
    return lstatSync(path).isSocket();
  } catch {
    return false;
  }
}
