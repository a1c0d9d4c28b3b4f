import type { Chance } from '../trust/chance.ts';

const pieces: readonly string[] = [
  ...[
    'print ',
    'print',
    'printf "%s" ',
    'if (',
    'else ',
    'while (',
    'for (i = 0; i < 2; i++) ',
    'for (k in a) ',
    'do ',
  ],
  ...['$1', '$NF', '$(1)', 'x', 'a[1]', 'a[x]++', 'NR', 'length', 'length($0)', '1', '.5', '"a"', '"\\""', '"opened"'],
  ...['"rm x"', '/a/', '/"/', '/[a]/', '/[/]/', '/\\//', '/=/', '!', '-', '+', '++', '--', '$'],
  ...[
    ' > ',
    '>',
    ' >> ',
    ' | ',
    '|',
    '||',
    '&&',
    ' < ',
    '==',
    '=',
    '+=',
    '/=',
    '/',
    ' ~ ',
    '!~',
    '?',
    ':',
    ',',
    ' in a',
  ],
  ...['(', ')', '[', ']', '{', '}', ';', '\n', ' ', '\\\n', '#', '# " \n', '\\', '@', '&'],
  ...['getline', 'getline x', 'system(', 'close(', 'sub(/a/, "b")', 'split($0, a, /,/)', 'next', 'exit ', 'delete a'],
  ...['BEGIN ', 'END ', 'function f(x) ', 'f(1)', 'f (1)', 'return ', 'toupper($1)', 'sprintf("%d", 1)', 'ARGV[1]'],
];

const programs: readonly string[] = [
  '{ if ($1 > 5) print }',
  '$1 > 5 { print $1, $3 }',
  'NR > 1 { s += $2 } END { print s / NR }',
  '{ a[$1]++ } END { for (k in a) print k, a[k] }',
  '/a/, /b/',
  '{ print ($1 > 2) ? "x" : "y" }',
  '!seen[$0]++',
  'BEGIN { FS = "," } $2 ~ /x/ { print $1 }',
  '{ gsub(/[a-z]+/, "b"); print toupper($0) }',
  'function f(x) { return x / 2 } { print f($1) }',
  '{ n = split($0, p, "/"); for (i = 1; i <= n; i++) printf "%s\\n", p[i] }',
  '{ if ($1 > 5) { print "a" } else if (/b/) print "b"; else print "c" }',
  '{ print "x" > "/dev/stderr" }',
  'BEGIN { while (i++ < 3) print i; do i--; while (i > 0) }',
];

/** A program of awk that writes to a file, to a command, or to neither. */
export function drawAwk(chance: Chance): string {
  const piece = () => chance.oneOf(pieces) ?? '';
  let program = chance.oneOf(programs) ?? '';
  if (chance.happens(0.3)) program = `{ ${Array.from({ length: 2 + chance.below(7) }, piece).join(' ')} }`;
  for (let left = chance.below(4); left > 0; left--) {
    const at = chance.below(program.length + 1);
    const end = chance.happens(0.3) ? at + 1 + chance.below(3) : at;
    const more = Array.from({ length: 1 + chance.below(3) }, piece).join(chance.happens(0.5) ? ' ' : '');
    program = `${program.slice(0, at)}${more}${program.slice(end)}`;
  }
  return program;
}
