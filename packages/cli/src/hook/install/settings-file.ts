import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../../cli-error.ts';
import { codeOf } from '../../context/private-file.ts';
import { isObject } from '../../is-object.ts';

export interface SettingsFile {
  readonly settings: Readonly<Record<string, unknown>>;
  /** Undefined if there is no file. */
  readonly text: string | undefined;
}

const mostBytes = 4_000_000;

/** Reads settings. A file that is not plain JSON is left alone, because writing it anew would lose its comments. */
export function readSettings(path: string): SettingsFile {
  let text: string;
  try {
    if (statSync(path).size > mostBytes) throw new CliError(`${path} is too long for settings`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { settings: {}, text: undefined };
    throw error instanceof CliError
      ? error
      : new CliError(`cannot read ${path}: ${codeOf(error) ?? 'it failed'}`, { cause: error });
  }
  if (text.trim() === '') return { settings: {}, text };
  try {
    const settings: unknown = JSON.parse(text);
    if (isObject(settings)) return { settings, text };
  } catch {
    // Said below.
  }
  throw new CliError(
    `${path} is not plain JSON, so it was left as it is. Remove its comments, or add the hooks by hand.`,
  );
}

/** Writes settings as a whole, with the indentation and the permissions that the file had. */
export function writeSettings(path: string, before: string | undefined, settings: object, newMode: number): void {
  const [, indent = '  '] = /^\{\r?\n([ \t]+)"/.exec(before ?? '') ?? [];
  const text = `${JSON.stringify(settings, undefined, indent)}\n`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    // A link stays a link. Its target is replaced.
    const target = before === undefined ? path : realpathSync(path);
    const mode = before === undefined ? newMode : statSync(target).mode & 0o777;
    const draft = `${target}.${process.pid}.tmp`;
    rmSync(draft, { force: true });
    writeFileSync(draft, text, { mode, flag: 'wx' });
    chmodSync(draft, mode);
    renameSync(draft, target);
  } catch (error) {
    throw new CliError(`cannot write ${path}: ${codeOf(error) ?? String(error)}`, { cause: error });
  }
}
