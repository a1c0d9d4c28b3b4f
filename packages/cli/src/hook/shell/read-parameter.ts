import type { Inside } from './grammar.ts';
import type { ShellText } from './shell-text.ts';
import { Unreadable } from './shell-text.ts';

/** The operators after a name that every `sh` knows, and those of bash. */
const operators = [':-', ':=', ':+', ':?', '-', '=', '+', '?', '##', '#', '%%', '%'];
const ofBash = ['//', '/', '^^', '^', ',,', ','];

/** The rest of `${…}`: a name, with a subscript that is a number, and one of the operators with a word. */
export function readParameter(text: ShellText, inside: Inside, quoted: boolean, readPart: () => void): void {
  const isLength = text.peek() === '#' && /^#[A-Za-z_0-9]/.test(text.ahead(2));
  if (isLength) text.take();
  const name = readName(text);
  const hasSubscript = text.peek() === '[';
  if (hasSubscript) readSubscript(text);
  if (text.takeIf('}')) return;
  if (isLength) throw new Unreadable('an expansion that is not understood');
  const operator = operators.find((one) => text.starts(one)) ?? ofBash.find((one) => text.starts(one));
  if (operator === undefined) return readSlice(text);
  if (ofBash.includes(operator)) text.onlyBash(`\${…${operator}…}`);
  text.take(operator.length);
  if (operator.endsWith('=') && /^[A-Za-z_]/.test(name)) inside.assigned(name);
  readOperand(text, quoted, readPart);
}

function readName(text: ShellText): string {
  let name = '';
  if (/^[@*#?$!-]/.test(text.peek())) name = text.take();
  else while (/^\w/.test(text.peek())) name += text.take();
  if (name === '') throw new Unreadable('an expansion that is not understood');
  // `${!x}` is what the variable names that `x` names.
  if (name === '!' && text.peek() !== '}') throw new Unreadable('an expansion by a name that shows only when it runs');
  return name;
}

export function readSubscript(text: ShellText): void {
  text.onlyBash('arrays');
  text.take();
  let content = '';
  while (/^[\w@*]/.test(text.peek())) content += text.take();
  if (!/^(?:\d+|[@*])$/.test(content) || !text.takeIf(']')) throw new Unreadable('a subscript that is no number');
}

/** `${x:1:2}`: only numbers, because arithmetic evaluates them. */
function readSlice(text: ShellText): void {
  text.onlyBash('${…:…}');
  let slice = '';
  while (/^[:\d -]/.test(text.peek())) slice += text.take();
  if (!/^:(?: ?-?\d+)?(?::-?\d+)?$/.test(slice) || !text.takeIf('}'))
    throw new Unreadable('an expansion that is not understood');
}

/** Inside double quotes, shells differ in what a quote stands for. */
function readOperand(text: ShellText, quoted: boolean, readPart: () => void): void {
  while (!text.takeIf('}')) {
    if (text.done) throw new Unreadable('a "${" is not closed');
    const next = text.peek();
    if (next === '$' || (!quoted && /^["']/.test(next))) readPart();
    else if (next === '\\') {
      if (/[^\w./*?$:,@%#-]/.test(text.takeEscaped())) throw new Unreadable('an escape inside of "${…}"');
    } else if (/^["'`{(<>\n]/.test(next)) throw new Unreadable(`${JSON.stringify(next)} inside of "\${…}"`);
    else text.take();
  }
}
