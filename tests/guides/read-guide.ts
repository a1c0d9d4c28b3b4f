/** What a guide tells its reader to do, or shows. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line of its fence, for messages. */
  readonly line: number;
  /** Why it cannot be run here, if a comment before it says so. */
  readonly notRun: string | undefined;
  /** Where another code than 0 belongs to what it shows. */
  readonly endsWith: number;
  /** What the agents, or the neighbours, of a reader have done meanwhile. */
  readonly first: readonly string[];
  /** Whether it is typed again until it shows what the guide shows. */
  readonly isRepeated: boolean;
  /** The name under which the reader keeps it. */
  readonly file: string | undefined;
  /** Whether only blank lines stand between it and the block before. */
  readonly isAdjacent: boolean;
}

/** The fenced blocks of a page, with the comments that stand before them. */
export function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  let comments: string[] = [];
  let lastEnd = -1;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const comment = /^\s*<!-- (.*) -->$/.exec(line)?.[1];
    const [, indent, language = ''] = /^( *)```(\w*)/.exec(line) ?? [];
    if (comment !== undefined) comments.push(comment);
    else if (indent === undefined) comments = line.trim() === '' ? comments : [];
    if (indent === undefined) continue;
    const end = lines.findIndex((each, index) => index > at && each.trim() === '```');
    if (end === -1) throw new Error(`line ${at + 1}: the block has no end`);
    const text = lines.slice(at + 1, end).map((each) => (each.startsWith(indent) ? each.slice(indent.length) : each));
    blocks.push({
      language,
      text: text.join('\n'),
      line: at + 1,
      notRun: said(comments, 'not run')[0],
      endsWith: Number(said(comments, 'ends with')[0] ?? 0),
      first: said(comments, 'first'),
      isRepeated: said(comments, 'until')[0] !== undefined,
      file: said(comments, 'file')[0],
      isAdjacent: lastEnd !== -1 && lines.slice(lastEnd + 1, at).every((each) => each.trim() === ''),
    });
    comments = [];
    lastEnd = end;
    at = end;
  }
  return blocks;
}

function said(comments: readonly string[], key: string): string[] {
  return comments.flatMap((comment) => (comment.startsWith(`${key}: `) ? [comment.slice(key.length + 2)] : []));
}

/** The commands of a block: a quote, or a backslash at the end of a line, continues one on the next line. */
export function commandsOf(text: string): string[] {
  const commands: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`;
    if (isOpen(open)) continue;
    if (!/^\s*(#|$)/.test(open)) commands.push(open);
    open = '';
  }
  if (open !== '') throw new Error(`a command does not end: ${open}`);
  return commands;
}

function isOpen(text: string): boolean {
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '\\' && quote !== "'") {
      if (at === text.length - 1) return true;
      at += 1;
    } else if (quote === '' && char === '#' && /\s/.test(text[at - 1] ?? ' ')) {
      const end = text.indexOf('\n', at);
      if (end === -1) return false;
      at = end;
    } else if (quote === '' ? char === '"' || char === "'" : char === quote) quote = quote === '' ? char : '';
  }
  return quote !== '';
}
