/** A glob as policies have it: `*` any run without `/`, `**` any run, `?` one character, `[…]` a set. Anchored. */
export function globPattern(glob: string): RegExp {
  let pattern = '';
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at] ?? '';
    const close = char === '[' ? glob.indexOf(']', at + 2) : -1;
    if (char === '*') {
      const isDouble = glob[at + 1] === '*';
      pattern += isDouble ? '.*' : '[^/]*';
      if (isDouble) at++;
    } else if (char === '?') pattern += '[^/]';
    else if (close !== -1) {
      pattern += setPattern(glob.slice(at + 1, close));
      at = close;
    } else pattern += char.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  }
  return new RegExp(`^${pattern}$`, 'su');
}

function setPattern(set: string): string {
  const negated = set.startsWith('!') || set.startsWith('^');
  const members = (negated ? set.slice(1) : set).replaceAll(/[\\[\]^]/g, '\\$&');
  return `[${negated ? '^' : ''}${members}]`;
}
