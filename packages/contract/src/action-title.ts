import { visibleText } from './visible-text.ts';

type Described = Readonly<Record<string, unknown>>;

const longestTitle = 200;
/** How much of a folder or a server stays when the title is cut. */
const longestPlace = 80;

/**
 * What an action does, on one line of at most 200 code points. It is made of the action as the log keeps it, with secrets
 * replaced. An agent chose these texts: each that is more than a word stands in quotes, so that none can pose as another
 * part of the line.
 */
export function actionTitle(action: Described): string {
  const { what, place } = partsOf(action);
  const behind = place === '' ? '' : ` (${cut(written(place), longestPlace)})`;
  return `${cut(written(what), longestTitle - lengthOf(behind))}${behind}`;
}

interface Parts {
  readonly what: string;
  /** Where it happens. */
  readonly place: string;
}

function partsOf(action: Described): Parts {
  const source = text(action, 'source');
  const of = source === '' ? '' : `of ${quoted(source)}`;
  switch (action['type']) {
    case 'process_exec':
      return { what: commandLine(action), place: folderOf(action) };
    case 'agent_spawn': {
      const line = commandLine(action);
      return { what: line === '' ? 'start an agent' : `start an agent: ${line}`, place: folderOf(action) };
    }
    case 'file_operation':
      return { what: words([text(action, 'operation'), text(action, 'path')]), place: '' };
    case 'network_call':
      return { what: `connect to ${hostOf(action)}`, place: quoted(text(action, 'protocol')) };
    case 'llm_call':
      return { what: quoted(text(action, 'model')), place: tokensOf(action) };
    case 'tool_result':
      return { what: `use the result of ${callOf(action)}`, place: of };
    case 'tool_call':
      return { what: callOf(action), place: of };
    default:
      return { what: JSON.stringify(action), place: '' };
  }
}

function text(action: Described, member: string): string {
  const value = action[member];
  return typeof value === 'string' ? value : '';
}

function commandLine(action: Described): string {
  const command = text(action, 'command');
  const args = action['command_args'];
  // Hooks ask about what they cannot read as `?`.
  const name = command === '?' ? command : command.includes('=') ? inQuotes(command) : quoted(command);
  return [name, ...(Array.isArray(args) ? args.map((arg) => quoted(String(arg)) || "''") : [])].join(' ').trim();
}

function folderOf(action: Described): string {
  const folder = text(action, 'working_dir');
  return folder === '' ? '' : `in ${folder === '?' ? 'a folder that is not known' : quoted(folder)}`;
}

function hostOf(action: Described): string {
  const port = action['port'];
  return `${quoted(text(action, 'host'))}${typeof port === 'number' ? `:${port}` : ''}`;
}

function tokensOf(action: Described): string {
  const counts = [
    ['prompt_tokens', 'prompt tokens'],
    ['max_output_tokens', 'output tokens at most'],
  ] as const;
  return counts
    .flatMap(([member, name]) => (typeof action[member] === 'number' ? [`${action[member]} ${name}`] : []))
    .join(', ');
}

function callOf(action: Described): string {
  const args = action['args'];
  const shown =
    typeof args === 'object' && args !== null && !Array.isArray(args)
      ? Object.entries(args).map(
          ([name, value]) => `${isWord(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)}`,
        )
      : args === undefined
        ? []
        : [JSON.stringify(args)];
  return `${quoted(text(action, 'tool'))}(${shown.join(', ')})`;
}

function words(given: readonly string[]): string {
  return given
    .filter((word) => word !== '')
    .map(quoted)
    .join(' ');
}

/** A text as a word of a POSIX shell. */
function quoted(word: string): string {
  return word === '' || isWord(word) ? word : inQuotes(word);
}

function isWord(word: string): boolean {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word);
}

function inQuotes(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** On one line, with all that cannot be seen written out. */
function written(line: string): string {
  return visibleText(
    line.replaceAll(/[\t\n\r]/g, (character) => `<U+000${character.charCodeAt(0).toString(16).toUpperCase()}>`),
  );
}

function lengthOf(line: string): number {
  return Array.from(line).length;
}

function cut(line: string, most: number): string {
  const points = Array.from(line);
  if (points.length <= most) return line;
  const note = (left: number) => `… (cut: ${left} more characters)`;
  const kept = most - lengthOf(note(points.length));
  return `${points.slice(0, kept).join('')}${note(points.length - kept)}`;
}
