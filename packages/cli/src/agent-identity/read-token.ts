import { UsageError } from '../cli-error.ts';
import { codeOf } from '../context/private-file.ts';

// As in private-file.ts: this takes less time than importing node:fs.
const { readFileSync, statSync } = process.getBuiltinModule('node:fs');

const mostBytes = 20_480;
const form = /^[\x21-\x7e]{1,16384}$/;

/** The token in a file: its text without the space around it. */
export function readTokenFile(path: string): string {
  let text: string;
  try {
    if (statSync(path).size > mostBytes)
      throw new UsageError(`${path} is no file with an agent's token: it is too long`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot read the file with the agent's token, ${path}: ${codeOf(error) ?? 'it failed'}`, {
      cause: error,
    });
  }
  return checkedToken(text.trim(), path);
}

/** The token, if it can be one. Errors never show it. */
export function checkedToken(token: string, source: string): string {
  if (form.test(token)) return token;
  throw new UsageError(`${source} holds no agent's token: it must be one line of visible characters`);
}
