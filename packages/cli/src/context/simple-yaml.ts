/** Marks text that needs a full YAML parser. */
export const needsYaml = Symbol('needs a YAML parser');

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Words that a YAML parser does not read as text. */
export const reservedWord = /^(true|false|null|yes|no|on|off|y|n)$/i;
const plainText = /^[A-Za-z][\w./+=@-]*(:[\w./+=@-]+)*$/;
const entryLine = /^("(?:[^"\\]|\\.)*"|[\w./:@-]*[\w./@-]):(?: (.*))?$/;

/**
 * Reads the YAML that this command writes, and most of what people write into a context file: maps and lists in blocks,
 * plain words, numbers, and JSON strings. Loading a full parser would take longer than all the rest of `reeve whoami`.
 * Anything less simple goes to the parser: `needsYaml`.
 */
export function readSimpleYaml(text: string): unknown {
  const lines: Line[] = [];
  for (const raw of text.split('\n')) {
    const content = raw.trimStart();
    if (content === '' || content.startsWith('#')) continue;
    if (raw.includes('\t') || raw.includes('\r') || raw !== raw.trimEnd()) return needsYaml;
    lines.push({ indent: raw.length - content.length, text: content });
  }
  if (lines.length === 0) return null;
  const [first] = lines;
  if (first === undefined || first.indent !== 0) return needsYaml;
  try {
    const reader = new BlockReader(lines);
    const value = reader.block(0);
    return reader.isAtEnd ? value : needsYaml;
  } catch (error) {
    if (error === needsYaml) return needsYaml;
    throw error;
  }
}

class BlockReader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  block(indent: number): unknown {
    return this.#lines[this.#at]?.text.startsWith('- ') === true ? this.#list(indent) : this.#map(indent);
  }

  #list(indent: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent; line = this.#lines[this.#at]) {
      const item = /^- (.*)$/.exec(line.text)?.[1]?.trimStart();
      if (item === undefined) beyond();
      items.push(scalar(item));
      this.#at++;
    }
    return items;
  }

  #map(indent: number): Record<string, unknown> {
    const members: [string, unknown][] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent; line = this.#lines[this.#at]) {
      const [, rawKey, rest] = entryLine.exec(line.text) ?? [];
      if (rawKey === undefined) beyond();
      const key = keyOf(rawKey);
      if (members.some(([known]) => known === key)) beyond();
      this.#at++;
      members.push([key, rest === undefined || rest === '' ? this.#nested(indent) : scalar(rest)]);
    }
    const after = this.#lines[this.#at];
    if (after !== undefined && after.indent > indent) beyond();
    return Object.fromEntries(members);
  }

  #nested(indent: number): unknown {
    const next = this.#lines[this.#at];
    const isList = next?.text.startsWith('- ') === true && next.indent >= indent;
    if (next === undefined || (next.indent <= indent && !isList)) return null;
    return this.block(next.indent);
  }
}

function keyOf(raw: string): string {
  const key = raw.startsWith('"') ? quoted(raw) : raw;
  if (!raw.startsWith('"') && (!plainText.test(key) || reservedWord.test(key))) beyond();
  if (key === '__proto__') beyond();
  return key;
}

function scalar(text: string): unknown {
  if (text.startsWith('"')) return quoted(text);
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (text === 'null') return null;
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (plainText.test(text) && !reservedWord.test(text)) return text;
  return beyond();
}

/** JSON strings mean the same in YAML. */
function quoted(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'string') return value;
  } catch {
    // Other escapes, or text after the quotes.
  }
  return beyond();
}

function beyond(): never {
  // One value for all: the caller compares it, and making an error with its trace would cost more than the parsing.
  // eslint-disable-next-line no-throw-literal
  throw needsYaml;
}
