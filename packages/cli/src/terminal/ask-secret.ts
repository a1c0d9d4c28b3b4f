import { StringDecoder } from 'node:string_decoder';
import { InterruptedError } from '../cli-error.ts';
import type { Shell } from '../shell.ts';
import { readLine } from './read-line.ts';

const enter = /[\r\n]/;
const interrupt = '\u0003';
const endOfInput = '\u0004';
const eraseLine = '\u0015';
const eraseWord = '\u0017';
const suspend = '\u001a';

/** Asks on stderr for a secret. If the input is not a terminal, reads its first line. */
export async function askSecret(shell: Shell, label: string): Promise<string> {
  if (!shell.stdin.isTTY) {
    shell.stderr.write(label);
    const line = await readLine(shell);
    shell.stderr.write('\n');
    return line;
  }
  try {
    return await readHidden(shell, label);
  } finally {
    shell.stderr.write('\n');
  }
}

/** Reads key by key with the terminal's echo off. The echo is restored in any case. */
function readHidden(shell: Shell, label: string): Promise<string> {
  const { stdin } = shell;
  const decoder = new StringDecoder('utf8');
  return new Promise((resolve, reject) => {
    let typed = '';
    const over = () => {
      stdin.off('data', onData).off('end', onEnd);
      stdin.setRawMode(false);
      stdin.pause();
    };
    const onEnd = () => {
      over();
      resolve(typed);
    };
    const onData = (chunk: Buffer) => {
      for (const key of keysIn(decoder.write(chunk))) {
        if (enter.test(key)) return onEnd();
        if (key === interrupt || key === suspend) {
          over();
          return reject(new InterruptedError());
        }
        if (key === endOfInput && typed === '') return onEnd();
        typed = edited(typed, key);
      }
    };
    // Set before the question, so that a quick answer is not visible either.
    stdin.setRawMode(true);
    shell.stderr.write(label);
    stdin.on('data', onData).on('end', onEnd);
    stdin.resume();
  });
}

/** Single characters, without arrow-key sequences and paste markers. */
function keysIn(text: string): string[] {
  // oxlint-disable-next-line no-control-regex
  return Array.from(text.replaceAll(/\u001b(\[[0-9;?]*[ -/]*[@-~]|O.)?/g, ''));
}

function edited(typed: string, key: string): string {
  if (key === '\u007f' || key === '\b') return Array.from(typed).slice(0, -1).join('');
  if (key === eraseLine) return '';
  if (key === eraseWord) return typed.replace(/(?<!\S)\S+\s*$/, '');
  return key < ' ' ? typed : typed + key;
}
