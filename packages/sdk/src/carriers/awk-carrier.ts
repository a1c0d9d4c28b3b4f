/** Whether a program of awk is known to run no command and to open no other file. */
export function isHarmlessAwk(program: string): boolean {
  // Where it is not certain which parts are texts and patterns, all of it counts as code.
  const certain = codeOf(program);
  const code = certain ?? program;
  // What is in ARGV is opened, and SYMTAB is every variable by its name.
  if (/system|getline|close|fflush|ARGV|SYMTAB|@/.test(code)) return false;
  const pipes = code.replaceAll('||', '');
  // A statement goes on after these ends of lines. In a text that is not certain, any line may be such a one.
  const joined = certain?.replaceAll(/\\\r?\n/g, ' ').replaceAll(/[,|&]\s*\n/g, ' ') ?? code.replaceAll('\n', ' ');
  return (
    !pipes.includes('|') && !joined.split(/[;{}\n]/).some((part) => /\bprintf?\b/.test(part) && part.includes('>'))
  );
}

/** As much of the code before a slash as says what the slash is. */
const longestTail = 64;

/** The program without its texts, patterns and comments. Undefined if their limits are not certain. Linear in its length. */
function codeOf(program: string): string | undefined {
  let code = '';
  let last = '';
  const add = (part: string) => {
    code += part;
    last = (last + part).slice(-longestTail);
  };
  for (let at = 0; at < program.length; at++) {
    const character = program[at] ?? '';
    if (character === '#') {
      const end = program.indexOf('\n', at);
      if (end < 0) return code;
      at = end;
      add('\n');
    } else if (character === '"') {
      const end = endOf(program, at, '"', /\n/);
      if (end === undefined) return undefined;
      at = end;
      add('""');
    } else if (character === '/') {
      const begins = beginsPattern(last, code.length > last.length);
      if (begins === undefined) return undefined;
      const end = begins ? endOf(program, at, '/', /[\n[]/) : at;
      if (end === undefined) return undefined;
      at = end;
      add(begins ? '""' : '/');
    } else add(character);
  }
  return code;
}

/** The place where a text ends that begins here. Undefined if it has none, or if one of these characters is in it. */
function endOf(program: string, start: number, mark: string, uncertain: RegExp): number | undefined {
  for (let at = start + 1; at < program.length; at++) {
    const character = program[at] ?? '';
    if (character === mark) return at;
    if (uncertain.test(character)) return undefined;
    if (character === '\\') at++;
  }
  return undefined;
}

/** Whether a slash after this code begins a pattern, or divides. Undefined if either may be. */
function beginsPattern(tail: string, isCut: boolean): boolean | undefined {
  const code = tail.trimEnd();
  const before = code + (tail.slice(code.length).includes('\n') ? '\n' : '');
  if (before === '' && isCut) return undefined;
  if (before === '' || /[{};\n(,!~&|]$/.test(before)) return true;
  const word = /(?<!\w)\w+$/.exec(before)?.[0].replace(/^\d+/, '');
  if (word !== undefined) return /^(?:print|printf|return|in|case|else|do)$/.test(word) ? undefined : false;
  return /[\d\]"]$/.test(before) ? false : undefined;
}
