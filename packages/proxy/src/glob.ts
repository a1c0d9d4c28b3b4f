/**
 * A glob over names of models or tools, as policies have them: `*` is any run without `/`, `**` any run, `?` one character, `[…]`
 * a set. Undefined if the glob is malformed.
 */
export function compileGlob(glob: string): RegExp | undefined {
  let source = '';
  for (let at = 0; at < glob.length; at++) {
    const character = glob[at] ?? '';
    if (character === '*') {
      const isDouble = glob[at + 1] === '*';
      if (isDouble) at++;
      source += isDouble ? '[^]*' : '[^/]*';
    } else if (character === '?') source += '[^/]';
    else if (character === '[') {
      const end = glob.indexOf(']', at + 2);
      if (end < 0) return undefined;
      source += setOf(glob.slice(at + 1, end));
      at = end;
    } else source += character.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  }
  try {
    return new RegExp(`^(?:${source})$`, 'u');
  } catch {
    return undefined;
  }
}

function setOf(content: string): string {
  const isNegated = content.startsWith('!') || content.startsWith('^');
  const members = (isNegated ? content.slice(1) : content).replace(/[\\\]^[]/g, String.raw`\$&`);
  return `[${isNegated ? '^' : ''}${members}]`;
}
