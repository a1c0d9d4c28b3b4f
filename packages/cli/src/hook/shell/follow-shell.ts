import { posix } from 'node:path';
import type { Follower, Input } from './follower.ts';
import { readText } from './follower.ts';
import type { Dialect } from './shell-text.ts';
import type { Word } from './word.ts';

const longFlags =
  /^--(?:posix|norc|noprofile|login|restricted|verbose|noediting|pretty-print|dump-strings|dump-po-strings|no-rcs)$/;

/** Follows a shell to the text that it reads: after `-c`, from a script, or from its input. */
export function followShell(name: string, args: readonly Word[], input: Input, follower: Follower): void {
  const dialect = dialectOf(name, follower);
  let isText = false;
  let fromInput = false;
  let isChecked = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at];
    const text = word?.text ?? '';
    if (text === '--' || text === '-') {
      at++;
      break;
    }
    if (!/^[-+]./.test(text) || word === undefined) break;
    if (word.unknown) follower.doubt(`the option ${text} is known only when it runs`, [name]);
    if (text === '--version' || text === '--help') return;
    if (text.startsWith('--')) {
      // Others take a value, or name a file that runs first.
      if (!longFlags.test(text)) follower.doubt(`${name}: the option ${text} is not known`, [name, text]);
      if (/^--(?:rcfile|init-file|emulate)$/.test(text)) at++;
      continue;
    }
    // A plus turns these on as well.
    if (text.includes('c')) isText = true;
    if (text.includes('s')) fromInput = true;
    isChecked ||= text === '-n';
    if (!/^[-+][abcefhilmnoprstuvxBCDEOPT]+$/.test(text))
      follower.doubt(`${name}: the option ${text} is not known`, [name]);
    // Each of these letters takes a word of its own.
    const values = args.slice(at + 1, at + 1 + (text.match(/[oO]/g)?.length ?? 0));
    if (values.some(({ isMany, isGlob }) => isMany || isGlob))
      follower.doubt(`the value of ${text} may become several words`, [name]);
    if (values.some((value) => value.text.endsWith('glob') && !/^(?:no|null|fail)glob$/.test(value.text)))
      follower.doubt(`${name}: patterns may stand for more files`, [name]);
    at += values.length;
  }
  const operand = args[at];
  // It reads the script and runs nothing of it, unless it is interactive, or told otherwise by another option.
  if (isChecked && operand !== undefined && args.slice(0, at).every(({ text, unknown }) => text === '-n' && !unknown))
    return;
  if (isText) {
    if (operand === undefined) follower.doubt(`${name} -c without a text`, [name]);
    readText(operand, follower, dialect);
  } else if (operand !== undefined && !fromInput && !isOtherInput(operand.text)) {
    if (operand.unknown || operand.isGlob)
      follower.doubt(`${name} runs a script that is known only when it runs`, [name]);
  } else readInput(name, operand === undefined || operand.text === '/dev/stdin' ? input : undefined, follower, dialect);
}

/** Other shells have words and expansions of their own. */
function dialectOf(name: string, follower: Follower): Dialect {
  if (/^(?:sh|dash|ash)$/.test(name)) return 'posix';
  if (!/^r?bash$/.test(name)) follower.doubt(`${name} may read a text in another way`, [name]);
  return 'bash';
}

/** Whether a script of this name is no file, but what another one writes. */
export function isOtherInput(path: string): boolean {
  return /^\/+(?:dev|proc)\//.test(posix.normalize(path)) || /(?:^|\/)(?:stdin|fd\/\d+)$/.test(path);
}

export function readInput(name: string, input: Input, follower: Follower, dialect?: Dialect): void {
  if (input === undefined || !input.isCertain) follower.doubt(`${name} runs what it reads from its input`, [name]);
  if (input !== undefined) follower.read(input.text, dialect);
}
