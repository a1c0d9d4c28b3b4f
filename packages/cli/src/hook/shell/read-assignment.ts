import type { Assignment } from './found-command.ts';
import type { Grammar } from './grammar.ts';
import { readSubscript } from './read-parameter.ts';
import { readWord } from './read-word.ts';
import { Unreadable } from './shell-text.ts';
import { wordOf } from './word.ts';

const longestName = 256;

/** `name=value`, `name+=value`, `name=(…)`, and `name[3]=value`. Undefined if there is none at this place. */
export function readAssignment(grammar: Grammar): Assignment | undefined {
  const { text } = grammar;
  const [name] = /^[A-Za-z_]\w*/.exec(text.ahead(longestName)) ?? [];
  const after = name === undefined ? '' : text.ahead(name.length + 2).slice(name.length);
  if (name === undefined || !/^(?:=|\+=|\[)/.test(after)) return undefined;
  if (name.length >= longestName - 2) throw new Unreadable('a name that is very long');
  text.take(name.length);
  const hasSubscript = text.peek() === '[';
  if (hasSubscript) readSubscript(text);
  const isAdded = text.takeIf('+');
  if (isAdded) text.onlyBash('+=');
  text.expect('=');
  if (text.peek() === '(') {
    text.onlyBash('arrays');
    if (text.waiting > 0) throw new Unreadable('an array before a here-document begins');
    text.take();
    if (grammar.words(true).some((word) => word.text.startsWith('['))) throw new Unreadable('a subscript in an array');
    text.expect(')');
    return { name, value: undefined, isArray: true };
  }
  const cells = readWord(text, grammar) ?? [];
  return { name, value: isAdded || hasSubscript ? undefined : wordOf(cells), isArray: hasSubscript };
}
