import { chmodSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../../cli-error.ts';
import { codeOf } from '../../context/private-file.ts';
import { isObject } from '../../is-object.ts';
import { hasCommentIn, parseCommented, replaceMember } from './commented-json.ts';

export interface SettingsFile {
  readonly settings: Readonly<Record<string, unknown>>;
  /** Undefined if there is no file. */
  readonly text: string | undefined;
}

const mostBytes = 4_000_000;

/** Reads settings, with comments where somebody wrote some. */
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
    const settings = parseCommented(text);
    if (isObject(settings)) return { settings, text };
  } catch {
    // Said below.
  }
  throw new CliError(`${path} is no JSON object, so it was left as it is`);
}

/** Writes settings, with the indentation, the comments and the permissions that the file had. */
export function writeSettings(
  path: string,
  before: string | undefined,
  settings: Readonly<Record<string, unknown>>,
  newMode: number,
): void {
  const [, indent = '  '] = /^\{\r?\n([ \t]+)"/.exec(before ?? '') ?? [];
  const text = isPlain(before)
    ? `${JSON.stringify(settings, undefined, indent)}\n`
    : amended(path, before ?? '', settings, indent);
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

function isPlain(text: string | undefined): boolean {
  try {
    if (text !== undefined && text.trim() !== '') JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Only the hooks are written anew. */
function amended(path: string, before: string, settings: Readonly<Record<string, unknown>>, indent: string): string {
  if (hasCommentIn(before, 'hooks')) {
    throw new CliError(
      `${path} has comments among its hooks, which would be lost. Move them, or change the hooks by hand.`,
    );
  }
  const hooks = JSON.stringify(settings['hooks'] ?? {}, undefined, indent).replaceAll('\n', `\n${indent}`);
  return replaceMember(before, 'hooks', hooks);
}
