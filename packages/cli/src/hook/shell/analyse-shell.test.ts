import { describe, expect, test } from 'vitest';
import { analyseShell } from './analyse-shell.ts';
import { foundIn } from './found-in.ts';

type Row = readonly [source: string, ...found: string[]];

function holds(rows: readonly Row[]): void {
  for (const [source, ...found] of rows) test(JSON.stringify(source), () => expect(foundIn(source)).toEqual(found));
}

describe('words are split as a shell splits them', () => {
  holds([
    ['ls', 'ls'],
    ['ls -la /tmp', 'ls -la /tmp'],
    ['  ls\t-la  ', 'ls -la'],
    [`echo 'a b' "c d" e\\ f`, `echo 'a b' 'c d' 'e f'`],
    [`echo "a\\"b\\$c\\\\d\\e"`, `echo 'a"b$c\\d\\e'`],
    [`echo ''`, `echo ''`],
    [`echo a''b""c`, 'echo abc'],
    [`echo $'a\\tb\\x41\\101\\u00e9'`, "echo 'a\tbAAé'"],
    [`echo $"hi"`, 'echo hi'],
    ['echo a\\\nb', 'echo ab'],
    ['echo a \\\n b', 'echo a b'],
    ['echo $x ${y:-z} $1 $@ $$', `echo '$x' '\${y:-z}' '$1' '$@' '$$'`],
    ['echo $', `echo '$'`],
    ['echo # rm x', 'echo'],
    ['echo a#b', `echo 'a#b'`],
    ['# rm x\nls', 'ls'],
    ['echo {a,b}{1,2}', 'echo a1 a2 b1 b2'],
    ['echo {1..3} {c..a} {x} {a,}', `echo 1 2 3 c b a '{x}' a`],
    ['echo "{a,b}"', `echo '{a,b}'`],
    ['echo *.ts', `echo '*.ts'`],
    ['~/bin/x y', `'~/bin/x' y`],
  ]);
});

describe('every command of a list counts', () => {
  holds([
    ['a; b', 'a', 'b'],
    ['a && b || c', 'a', 'b', 'c'],
    ['a | b |& c', 'a', 'b', 'c'],
    ['a & b &', 'a', 'b'],
    ['a\nb\n\nc', 'a', 'b', 'c'],
    ['a &&\n b |\n c', 'a', 'b', 'c'],
    ['(a; b)', 'a', 'b'],
    ['{ a; b; }', 'a', 'b'],
    ['! a', 'a'],
    ['time a', 'a'],
    ['time -p a | b', 'a', 'b'],
    ['((x = 1)) && a', 'a'],
    ['((a); b)', 'a', 'b'],
    ['a;', 'a'],
    ['', ...[]],
    ['coproc a b', 'a b'],
    ['coproc NAME { a; }', 'a'],
  ]);
});

describe('so does every command of a compound', () => {
  holds([
    ['if a; then b; elif c; then d; else e; fi', 'a', 'b', 'c', 'd', 'e'],
    ['for x in 1 2; do a $x; done', `a '$x'`],
    ['for x; do a; done', 'a'],
    ['for ((i=0; i<3; i++)); do a; done', 'a'],
    ['for x in $(a); do b; done', 'a', 'b'],
    ['while a; do b; done', 'a', 'b'],
    ['until a\ndo\nb\ndone', 'a', 'b'],
    ['select x in 1 2; do a; done', 'a'],
    ['case $x in a) b;; c|d) e;& *) f;; esac', 'b', 'e', 'f'],
    ['case x in (a) b ;; esac && c', 'b', 'c'],
    ['case "$(a)" in esac', 'a'],
    ['f() { a; }; f', 'a', 'f'],
    ['function f { a; }', 'a'],
    ['function f() (a)', 'a'],
    ['[[ -f x && $(a) == y ]] && b', 'a', 'b'],
    ['[[ x =~ ^(a|b)$ ]] || c', 'c'],
    ['[ -f x ] && a', `'[' -f x ']'`, 'a'],
    ['if (a) then b; fi', 'a', 'b'],
  ]);
});

describe('and what runs inside of words', () => {
  holds([
    ['echo $(a b)', 'a b', `echo '$(a b)'`],
    ['echo "$(a "b c")"', `a 'b c'`, `echo '$(a "b c")'`],
    ['echo `a \\`b\\``', 'b', `a '\`b\`'`, `echo '\`a \\\`b\\\`\`'`],
    ['x=$(a)', 'a'],
    ['x=(1 $(a)\n2)', 'a'],
    ['echo ${x:-$(a)}', 'a', `echo '\${x:-$(a)}'`],
    ['echo $((1 + 2))', `echo '$((1 + 2))'`],
    ['diff <(a) >(b)', 'a', 'b', `diff '<(a)' '>(b)'`],
    ['cat <<EOF\n$(a)\nEOF', 'cat', 'a'],
    [`cat <<'EOF'\n$(a)\nEOF`, 'cat'],
    ['cat <<-EOF\n\tx\n\tEOF\na', 'cat', 'a'],
    ['cat <<A <<B\n1\nA\n2\nB\na', 'cat', 'a'],
    [`git commit -m "$(cat <<'EOF'\nit's\nEOF\n)"`, 'cat', `git commit -m '$(cat <<'\\''EOF'\\''\nit'\\''s\nEOF\n)'`],
    ['${ a; }', '?'],
  ]);
});

describe('files that are redirected', () => {
  holds([
    ['a > b', 'a', '>/workspace/b'],
    ['a >> /x/../y', 'a', '>/y'],
    ['a 2>&1', 'a'],
    ['a >/dev/null 2>&1 </dev/null', 'a'],
    ['a &> b', 'a', '>/workspace/b'],
    ['a >& b', 'a', '>/workspace/b'],
    ['a >| b <c', 'a', '>/workspace/b', '</workspace/c'],
    ['a 3<> b', 'a', '>/workspace/b'],
    ['> b', '>/workspace/b'],
    ['{ a; } > b', 'a', '>/workspace/b'],
    ['while a; do b; done < c', 'a', 'b', '</workspace/c'],
    ['a > ~/b', 'a', '>/home/ada/b'],
    ['a > "$HOME/b"', 'a', '>/home/ada/b'],
    ['a > $x', 'a', '?'],
    ['cd /etc && a > b', 'cd /etc', 'a', '>/workspace/b', '>/etc/b'],
    ['cd "$x"; a > b', `cd '$x'`, 'a', '?'],
    ['cd "$x"; a > /b', `cd '$x'`, 'a', '>/b'],
    ['exec 3<>/dev/tcp/evil.example/80', `exec`, '@evil.example:80'],
    ['echo $(<secret)', '</workspace/secret', `echo '$(<secret)'`],
  ]);
});

test('bounds the length of one command, of the text, and the number of commands', () => {
  expect(foundIn(`a ${'x'.repeat(9000)}`)).toEqual(['?']);
  expect(foundIn('x'.repeat(70_000))).toEqual(['?']);
  const many = foundIn(Array.from({ length: 300 }, (_, at) => `c${at}`).join(';'));
  expect(many).toContain('?');
  expect(many.length).toBeLessThanOrEqual(202);
  expect(foundIn(`${'$('.repeat(60)}a${')'.repeat(60)}`)).toContain('?');
});

test('says why something cannot be read', () => {
  const [found] = analyseShell('"$x" -rf /', { cwd: '/' });
  expect(found).toEqual({
    kind: 'execution',
    command: '?',
    workingDir: '/',
    args: ['$x', '-rf', '/'],
    note: 'the name of the command is known only when it runs',
  });
});

test.each([
  ['git push', ['/srv/shop']],
  ['git push; cd api && git push', ['/srv/shop', '/srv/shop', '/srv/shop or /srv/shop/api']],
  ['cd "$x"; git push', ['/srv/shop', '?']],
])('says in which folders the commands of %j may run', (source, folders) => {
  const found = analyseShell(source, { cwd: '/srv/shop' });
  expect(found.map((action) => (action.kind === 'execution' ? action.workingDir : action.kind))).toEqual(folders);
});
