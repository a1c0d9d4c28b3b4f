const token =
  /[ \t\r\n]*(?:(?<text>"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<plain>true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<sign>[{}[\],:]))/y;
/** A token whose end has not come, or none. */
const unfinished = /[ \t\r\n]*(?:"[ -\uffff]*|[tfn][a-z]{0,4}|[\d.eE+-]*)$/y;

/** What may come next. */
type Next = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'end';

/**
 * Whether a text whose end has not come yet may become JSON. False only if it cannot, whatever follows; a document that is
 * whole may still be followed by blanks.
 */
export function beginsJson(text: string): boolean {
  const open: ('{' | '[')[] = [];
  let next: Next = 'value';
  for (let at = text.startsWith('\uFEFF') ? 1 : 0; ; at = token.lastIndex) {
    token.lastIndex = at;
    const groups = token.exec(text)?.groups;
    if (groups === undefined) {
      unfinished.lastIndex = at;
      return unfinished.test(text);
    }
    const after = nextAfter(next, open, groups);
    if (after === undefined) return false;
    next = after;
  }
}

function nextAfter(
  next: Next,
  open: ('{' | '[')[],
  { text, plain, sign }: Readonly<Record<string, string | undefined>>,
): Next | undefined {
  const isValue = next === 'value' || next === 'first value';
  if (text !== undefined) return isValue ? 'end' : next === 'name' || next === 'first name' ? 'colon' : undefined;
  if (plain !== undefined) return isValue ? 'end' : undefined;
  if (sign === ':') return next === 'colon' ? 'value' : undefined;
  if (sign === '{' || sign === '[') {
    if (!isValue) return undefined;
    open.push(sign);
    return sign === '{' ? 'first name' : 'first value';
  }
  const inner = open.at(-1);
  if (sign === ',') return next !== 'end' || inner === undefined ? undefined : inner === '{' ? 'name' : 'value';
  const closes = sign === '}' ? inner === '{' && next !== 'value' : inner === '[' && next !== 'value';
  const isClosed = closes && (next === 'end' || next === 'first name' || next === 'first value');
  if (isClosed) open.pop();
  return isClosed ? 'end' : undefined;
}
