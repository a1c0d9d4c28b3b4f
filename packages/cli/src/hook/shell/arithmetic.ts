import { Unreadable } from './shell-text.ts';

const token = /\s+|\d+|\$?[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|\$[#?]|\$\{#[A-Za-z_]\w*\}|[-+*/%<>=!&|^~?:,();]/y;

/** The names in an arithmetic expression. Outside of plain names, numbers and operators nothing is understood. */
export function namesInArithmetic(expression: string): readonly string[] {
  const names: string[] = [];
  let previous = '';
  for (token.lastIndex = 0; token.lastIndex < expression.length; ) {
    const [found] = token.exec(expression) ?? [];
    if (found === undefined) throw new Unreadable('arithmetic with more than names, numbers and operators');
    if (/\w$/.test(previous) && /^[\w$]/.test(found)) throw new Unreadable('arithmetic with words in it');
    if (found.trim() !== '') previous = found.replace(/\}$/, 'x');
    const name = /[A-Za-z_]\w*/.exec(found)?.[0];
    if (name !== undefined && !found.startsWith('${#')) names.push(name);
  }
  return names;
}
