/** A glob that was read. */
export interface Glob {
  readonly test: (text: string) => boolean;
}

/** One character of a set, or a run of any length of them. */
interface Part {
  readonly one: RegExp;
  readonly isRun: boolean;
}

/**
 * A glob over names of models or tools, as policies have them: `*` is any run without `/`, `**` any run, `?` one character, `[…]`
 * a set. Undefined if the glob is malformed.
 */
export function compileGlob(glob: string): Glob | undefined {
  try {
    const parts = partsOf(glob);
    return parts === undefined ? undefined : { test: (text) => matches(parts, text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function partsOf(glob: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at] ?? '';
    if (character === '*') {
      const isDouble = glob[at + 1] === '*';
      if (isDouble) at++;
      parts.push({ one: isDouble ? /[^]/u : /[^/]/u, isRun: true });
    } else if (character === '?') parts.push({ one: /[^/]/u, isRun: false });
    else if (character === '[') {
      const end = glob.indexOf(']', at + 2);
      if (end < 0) return undefined;
      parts.push({ one: new RegExp(setOf(glob.slice(at + 1, end)), 'u'), isRun: false });
      at = end;
    } else {
      const [whole = ''] = glob.slice(at);
      parts.push({ one: new RegExp(whole.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'u'), isRun: false });
      at += whole.length - 1;
    }
  }
  return parts;
}

/** Takes all ways through the glob at once, so that no text makes it go back. */
function matches(parts: readonly Part[], text: string): boolean {
  let open = afterRuns(parts, new Set([0]));
  for (const character of text) {
    const next = new Set<number>();
    for (const at of open) {
      const part = parts[at];
      if (part?.one.test(character) === true) next.add(part.isRun ? at : at + 1);
    }
    open = afterRuns(parts, next);
    if (open.size === 0) return false;
  }
  return open.has(parts.length);
}

/** A run may be empty. A set hands out what is added while it is walked. */
function afterRuns(parts: readonly Part[], open: Set<number>): Set<number> {
  for (const at of open) if (parts[at]?.isRun === true) open.add(at + 1);
  return open;
}

function setOf(content: string): string {
  const isNegated = content.startsWith('!') || content.startsWith('^');
  const members = (isNegated ? content.slice(1) : content).replace(/[\\\]^[]/g, String.raw`\$&`);
  return `[${isNegated ? '^' : ''}${members}]`;
}
