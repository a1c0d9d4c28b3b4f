import type { Chance } from '../trust/chance.ts';
import { everyday, hidden } from './corpus.ts';
import { drawAwk } from './draw-awk.ts';

const corpus: readonly string[] = [...everyday, ...hidden];

const pieces: readonly string[] = [
  ...'\'"`$\\(){}[]<>|&;#!*?~=\n \t:-+%/@,.0'.split(''),
  ...[
    '$(',
    '$((',
    '))',
    '${',
    '<<',
    '<<-',
    '<<EOF\n',
    "<<'EOF'\n",
    '\nEOF\n',
    '<<<',
    '<(',
    '>(',
    '&&',
    '||',
    ';;',
    ';&',
  ],
  ...[
    '[[ ',
    ' ]]',
    '[ ',
    ' ]',
    "$'",
    '$"',
    '$[',
    '\\\n',
    '\\\\\n',
    '((',
    ' # ',
    'a[',
    ']=',
    '${#',
    '${!',
    '@P}',
    '{a,b}',
  ],
  ...[
    'if ',
    '; then ',
    '; fi',
    'for x in ',
    '; do ',
    '; done',
    'case a in a) ',
    ';; esac',
    'while ',
    'f() ',
    '{ ',
    '; }',
  ],
  ...[
    'coproc ',
    'time ',
    '! ',
    'rm x',
    'say ',
    'cat ',
    'eval ',
    'let ',
    'declare ',
    'export ',
    'read w ',
    'printf -v w ',
  ],
  ...[
    'w=',
    '$w',
    '"$w"',
    '((w))',
    '$((w))',
    '[[ w -eq 0 ]]',
    "'a[$(rm x)]'",
    "bash -c '",
    "sh -c '",
    'unset ',
    'set -- ',
  ],
  ...['env ', 'xargs ', 'env 1=2 ', "awk '", "sed '", 'python3 ', 'PYTHONPATH=src ', 'export PATH=', 'seq 1 2', ' -- '],
  ...[
    'n=$(wc -l < f)',
    '$((n))',
    '$(wc -l)',
    ' | wc -l',
    ' | tr -d " "',
    'wc() ',
    'trap ',
    'set -T',
    '-e1erm',
    ' DEBUG',
  ],
  ...[
    'x=1 ',
    '2>&1',
    '>/dev/null',
    '1',
    'EOF',
    'function f ',
    'select x in a',
    'until ',
    'test -v ',
    '-eq',
    '${w:-',
    '}',
  ],
];

const wrappers: readonly ((line: string) => string)[] = [
  (line) => `say $(${line})`,
  (line) => `say "$(${line})"`,
  (line) => `say \`${line}\``,
  (line) => `say "\`${line}\`"`,
  (line) => `say \${x:-${line}}`,
  (line) => `say "\${x:-$(${line})}"`,
  (line) => `cat <<EOF\n${line}\nEOF`,
  (line) => `cat <<EOF\n$(${line})\nEOF`,
  (line) => `cat <<'EOF'\n${line}\nEOF`,
  (line) => `cat <<-EOF\n\t${line}\n\tEOF`,
  (line) => `{ ${line}; }`,
  (line) => `(${line})`,
  (line) => `if ${line}; then ls; fi`,
  (line) => `for x in 1; do ${line}; done`,
  (line) => `case a in a) ${line};; esac`,
  (line) => `f() { ${line}; }; f`,
  (line) => `eval '${line}'`,
  (line) => `bash -c '${line}'`,
  (line) => `sh -c '${line}'`,
  (line) => `say '${line}'`,
  (line) => `say "${line}"`,
  (line) => `# ${line}`,
  (line) => `[[ ${line} ]]`,
  (line) => `((${line}))`,
  (line) => `say $((${line}))`,
  (line) => `say $'${line}'`,
  (line) => `w='${line}'; say $((w))`,
  (line) => `cat <(${line})`,
  (line) => `cat <<< "${line}"`,
  (line) => `bash <<EOF\n${line}\nEOF`,
  (line) => `x=(${line})`,
  (line) => `! ${line}`,
  (line) => `time ${line}`,
  (line) => `coproc ${line}`,
  (line) => `python3 - <<'EOF'\n${line}\nEOF`,
  (line) => `n=$(${line}); say $((n))`,
  (line) => `n=$(${line} | wc -l); say $((n))`,
  (line) => `say $(( $(${line}) + 1 ))`,
  (line) => `[[ $(${line}) -gt 1 ]]`,
  (line) => `[ $(${line}) -gt 1 ]`,
  (line) => `for n in $(${line}); do say $((n)); done`,
  (line) => `${line} | xargs sed -n p`,
  (line) => `${line} | xargs sed -n p --`,
  (line) => `env ${line}`,
  (line) => `env A=1 ${line}`,
  (line) => `PYTHONPATH=src ${line}`,
  (line) => `export ${line}`,
  (line) => `awk 'BEGIN { ${line} }'`,
  (line) => `sed '${line}' ../data/f`,
  (line) => `find . -maxdepth 0 -exec ${line} ';'`,
];

/** A line from the corpus that was changed a few times, or one that is put together from pieces. */
export function drawLine(chance: Chance): string {
  if (chance.happens(0.15)) return `awk '${drawAwk(chance)}' ../data/f`;
  let line = chance.happens(0.25) ? drawn(chance) : (chance.oneOf(corpus) ?? '');
  for (let left = 1 + chance.below(4); left > 0; left--) line = changed(line, chance);
  return line.slice(0, 400);
}

function drawn(chance: Chance): string {
  return Array.from({ length: 1 + chance.below(9) }, () => chance.oneOf(pieces) ?? '').join('');
}

function changed(line: string, chance: Chance): string {
  const at = chance.below(line.length + 1);
  const end = Math.min(line.length, at + 1 + chance.below(4));
  switch (chance.below(9)) {
    case 0:
      return `${line.slice(0, at)}\\\n${line.slice(at)}`;
    case 1:
    case 2:
      return `${line.slice(0, at)}${chance.oneOf(pieces) ?? ''}${line.slice(at)}`;
    case 3:
      return `${line.slice(0, at)}${line.slice(end)}`;
    case 4:
      return `${line.slice(0, at)}${chance.oneOf(corpus) ?? ''}${line.slice(at)}`;
    case 5:
      return `${line.slice(0, at)}${chance.oneOf([';', '\n', ' && ', ' | ', ' '])}${chance.oneOf(corpus) ?? ''}`;
    case 6:
      return `${line.slice(0, at)}${line.slice(at, end).repeat(2)}${line.slice(end)}`;
    default:
      return (chance.oneOf(wrappers) ?? String)(line);
  }
}
