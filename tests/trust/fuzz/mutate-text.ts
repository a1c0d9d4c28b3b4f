import { hostileTexts, numbers } from '../../fuzz/hostile.ts';
import type { Chance } from '../chance.ts';

/** Tokens with a meaning in YAML, CEL or a pattern. */
const pieces = [
  ...hostileTexts.filter((text) => text.length < 100),
  ...numbers,
  ': ',
  '- ',
  '---\n',
  '...\n',
  '&a ',
  '*a',
  '<<: *a',
  '!!binary ',
  '!!js/function ',
  '? ',
  '|\n',
  '>-\n',
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  '#',
  '\t',
  '%YAML 1.1\n',
  '*'.repeat(60),
  '['.repeat(200),
  '{a: '.repeat(100),
  '('.repeat(100),
  '**/',
  '.*.*.*.*x',
  ' && ',
  ' || ',
  'true',
  'when: ',
  'effect: deny',
  'approvals: {count: 9}',
] as const;

/** A text with one to six changes: characters, lines or pieces of others. */
export function mutateText(chance: Chance, source: string, others: readonly string[]): string {
  let text = source;
  for (let change = 1 + chance.below(6); change > 0; change--) text = changed(chance, text, others);
  return text.slice(0, 60_000);
}

function changed(chance: Chance, text: string, others: readonly string[]): string {
  const at = chance.below(text.length + 1);
  switch (chance.below(8)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + chance.below(8));
    case 1:
      return text.slice(0, at) + (chance.oneOf(pieces) ?? '') + text.slice(at);
    case 2:
      return text.slice(0, at) + (chance.oneOf(pieces) ?? '') + text.slice(at + 1 + chance.below(12));
    case 3:
      return text.slice(0, at) + String.fromCodePoint(1 + chance.below(0xd7_ff)) + text.slice(at + 1);
    case 4:
      return byLines(text, (lines) => lines.toSpliced(chance.below(lines.length), 1));
    case 5:
      return byLines(text, (lines) => lines.toSpliced(chance.below(lines.length), 0, chance.oneOf(lines) ?? ''));
    case 6: {
      const other = (chance.oneOf(others) ?? '').split('\n');
      const from = chance.below(other.length);
      return byLines(text, (lines) =>
        lines.toSpliced(chance.below(lines.length), 0, ...other.slice(from, from + 1 + chance.below(8))),
      );
    }
    default:
      return byLines(text, (lines) => {
        const line = chance.below(lines.length);
        const indented = ' '.repeat(chance.below(6)) + (lines[line] ?? '').trimStart();
        return lines.with(line, indented);
      });
  }
}

function byLines(text: string, change: (lines: readonly string[]) => readonly string[]): string {
  return change(text.split('\n')).join('\n');
}
