import { joinWords, quoteWord } from '../shell/quote.ts';

/** How a hook starts `reeve run`. */
export interface FloorWords {
  /** The words that start this command, by their paths: what the `PATH` of a host finds does not matter. */
  readonly program: readonly string[];
  /** As which agent, and at which gateway. */
  readonly flags: readonly string[];
}

/** A line for a shell, or the words of a command. */
export type Command = string | readonly string[];

const runId = /^[A-Za-z0-9_-]+$/;

/**
 * The command on a floor. Lines are read as bash reads them, so it is bash that gets them: another shell could find commands
 * where bash finds a quoted text. What is on the floor already gets no second one.
 */
export function onFloor(command: Command, floor: FloorWords, run: string): Command {
  const taken = offFloor(command, floor);
  const words = [...startOf(floor), run, '--'];
  return typeof taken === 'string'
    ? `${joinWords([...words, 'bash', '-c'])} ${quoteWord(taken)}`
    : [...words, ...taken];
}

/** The command without its floor. Only the very form of `onFloor` counts: whoever writes other options chooses another floor. */
export function offFloor(command: Command, floor: FloorWords): Command {
  const start = startOf(floor);
  if (typeof command !== 'string') {
    const isOurs =
      start.every((word, at) => command[at] === word) &&
      runId.test(command[start.length] ?? '') &&
      command[start.length + 1] === '--' &&
      command.length > start.length + 2;
    return isOurs ? command.slice(start.length + 2) : command;
  }
  const prefix = `${joinWords(start)} `;
  if (!command.startsWith(prefix)) return command;
  const [, text] = /^[A-Za-z0-9_-]+ -- bash -c (.+)$/s.exec(command.slice(prefix.length)) ?? [];
  return (text === undefined ? undefined : unquoted(text)) ?? command;
}

function startOf({ program, flags }: FloorWords): readonly string[] {
  return [...program, 'run', ...flags, '--run'];
}

/** The word that `quoteWord` has made this of. */
function unquoted(text: string): string | undefined {
  const word = text.startsWith("'") ? text.slice(1, -1).replaceAll(`'\\''`, `'`) : text;
  return quoteWord(word) === text ? word : undefined;
}
