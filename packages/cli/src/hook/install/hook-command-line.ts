import { joinWords } from '../shell/quote.ts';
import type { InstallScope } from './host-settings.ts';

/** How the host is to run this command. */
export interface HookProgram {
  readonly scope: InstallScope;
  /** In the words of a shell. Undefined: chosen by the scope. */
  readonly given: string | undefined;
  /** The words that start what runs now, by the files themselves. */
  readonly own: readonly string[];
}

/** What ends each command. Hosts go on if a hook is not found or crashes, so every bad end becomes the code that blocks. */
const orBlock = '|| exit 2';

/**
 * The command that a host runs. Which programs its `PATH` finds, and whether the first of them is Reeve, nobody knows. So
 * the settings of a person name files. Those of a project are shared with machines where the files are elsewhere.
 */
export function hookCommandLine(words: readonly string[], program: HookProgram): string {
  return `${programText(program)} hook ${joinWords(words)} ${orBlock}`;
}

function programText({ scope, given, own }: HookProgram): string {
  if (given !== undefined) return given;
  return scope === 'project' ? 'reeve' : joinWords(own);
}

/** Whether a command is one of `hookCommandLine`, of this version or of those before, whatever its program is called. */
export function isHookCommand(command: string, host: string): boolean {
  const words = command.split(/\s+/);
  return words.some((word, at) => {
    const next = words[at + 1] ?? '';
    const isAsked = word === 'hook' && at > 0 && next.startsWith(host) && !/^[\w-]/.test(next.slice(host.length));
    return isAsked && (/\breeve(?:\.mjs)?['"]?$/.test(words[at - 1] ?? '') || command.endsWith(orBlock));
  });
}
