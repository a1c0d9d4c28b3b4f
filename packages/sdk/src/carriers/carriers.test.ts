import { describe, expect, test } from 'vitest';
import { isHarmlessAwk } from './awk-carrier.ts';
import { runsItselfAlone } from './index.ts';
import { isHarmlessSed } from './sed-carrier.ts';

function alone(line: string): boolean {
  const [name = '', ...args] = line.split(' ');
  return runsItselfAlone(
    name,
    args.map((text) => ({ text })),
  );
}

test.each([
  '1,5p',
  's/a/b/g',
  's|/a|/b|;/x/d',
  '/^$/!{N;P;D}',
  '$!N;s/\\n/ /',
  ':a;N;$!ba;s/\\n/,/g',
  '2i\\\ne rm',
  'a text with e in it',
  'y/abc/xyz/',
  '# e\n5q',
  '\\%x%I,+3{s/e/e/2p}',
])('the script of sed %j runs nothing', (script) => {
  expect(isHarmlessSed(script)).toBe(true);
});

test.each([
  'e',
  '1e id',
  '$!e id',
  's/x/id/e',
  's/x/id/ge',
  's/x/id/3 e',
  's/x/y/w /tmp/f',
  'w /tmp/f',
  'r /etc/passwd',
  '/x/e id',
  '\\,x,e id',
  '{e id\n}',
  'n;e id',
  's/[/]/x/;e id',
  's#x#y#;e',
  'b;e',
  'unknown',
  's/a/b',
  'v;e',
])('the script of sed %j may run something', (script) => {
  expect(isHarmlessSed(script)).toBe(false);
});

test('a long script is read in one pass', () => {
  const started = performance.now();
  isHarmlessSed(`s/${'a\\'.repeat(100_000)}`);
  isHarmlessAwk(`${'/a" '.repeat(50_000)}|`);
  expect(performance.now() - started).toBeLessThan(2000);
});

test.each([
  '{print $2}',
  '/a|b/ {print $1}',
  '{print $1 "|" $2}',
  '$3 > 5 {n += $1 / 2} END {print n}',
  'NR==1 || /x/',
  '{x = "a > b"; print x} # | "id"',
  '{print $1}\n$3 > 5 {n++}',
  '{print $1\nif ($3 > 5) n++}',
  '$3 > 5 &&\n$4 > 6 {print $1,\n$2}',
])('the program of awk %j runs nothing', (program) => {
  expect(isHarmlessAwk(program)).toBe(true);
});

test.each([
  '{print | "id"}',
  'BEGIN {system("id")}',
  'BEGIN {"id" | getline x}',
  '{print > "f"}',
  'BEGIN {f = "system"; @f("id")}',
  '/"/ {print | "id"}',
  'if (1) /"/; {print | "id"} /"/',
  '# "\n{print | "id"}',
  '{print "a" |& "id"}',
  '/["]/ {print | "id" "x"}',
  '{printf "x" | "id"}',
  'BEGIN {print "x" \\\n > "f"}',
  'BEGIN {print "x",\n"y" > "f"}',
  'BEGIN {print "x", # y\n"y" > "f"}',
  'BEGIN {print "x", \\\n\n \n# z\n"y" > "f"}',
  'BEGIN {print "x" ||\n"y" > "f"}',
  'BEGIN {if (1) /"/; print "x", # "\n"y" > "f"}',
  'BEGIN {ARGV[1] = "f"; ARGC = 2} 1',
  'BEGIN {SYMTAB["AR" "GV"][1] = "f"} 1',
])('the program of awk %j may run something', (program) => {
  expect(isHarmlessAwk(program)).toBe(false);
});

describe('a plain line', () => {
  test.each([
    'ls -la',
    'git status --short',
    'git -C sub log --oneline -n 3',
    'git -c user.name=x commit -m y',
    'git push origin main',
    'git rebase --onto main a b',
    'git config user.email a@b.c',
    'tar czf out.tgz src',
    'tar -xf a.tar -C out --strip-components=1',
    'sort -k2,2 -u file',
    'npm run build',
    'npm --prefix web test',
    'npm install --save-dev vitest',
    'pnpm install --frozen-lockfile',
    'yarn lint',
    'uv sync',
    'make -j4 test',
    'python3 -u script.py -c x',
    'python3 -m pytest -x',
    'python3 -I -c pass',
    'node --test --test-name-pattern=x test.js',
    'perl -pe s/a/b/ file',
    'gcc -O2 -Wall -o a a.c -lm',
    'go test ./... -run X -count=1',
    'cargo test --release -p x -- --nocapture',
    'pip install -r requirements.txt',
    'rg -n --hidden foo src',
    'ssh -o BatchMode=yes host',
    'make --version',
    'vim --version',
  ])('%s runs nothing else', (line) => {
    expect(alone(line)).toBe(true);
  });

  test.each([
    'bash x.sh',
    'find . -delete',
    'git -c core.pager=x log',
    'git rebase --exec=x',
    'git -c sequence.editor=x rebase -i',
    'git config sequence.editor x',
    'git config tar.x.command y',
    'git config trailer.x.command y',
    'git config --rename-section user alias',
    'git archive --exec=x',
    'git grep --open-files-in-pager=x y',
    'git clone ext::x',
    'git fetch --upload-pack=x',
    'git unknown',
    'git --exec-path=x log',
    'git merge -s x y',
    'tar --checkpoint-act=exec=x -cf a b',
    'tar --to-com=x -xf a',
    'tar -Ix -cf a b',
    'tar cIf x a b',
    'sort --co=x f',
    'zip -TT x a b',
    'zip a b -TTx',
    'npm --prefix x exec y',
    'npm --script-shell=x run y',
    'npm exec x',
    'npx -c x',
    'npm config set script-shell x',
    'make -f -',
    'make SHELL=x',
    'make --eval=x',
    'python3',
    'python3 -u -',
    'python3 -W ignore',
    'node --require x',
    'perl -w',
    'gcc -wrapper x a.c',
    'gcc -fplugin=x a.c',
    'gcc @x',
    'pip config --editor x edit',
    'pip config edit',
    'go test -exec x',
    'go build -toolexec x',
    'go generate',
    'cargo --config x build',
    'cargo x',
    'rsync -e x a b',
    'ssh -o ProxyCommand=x h',
    'ssh -oProxyCommand=x h',
    'man -Hx ls',
    'tcpdump -z x',
    'rg --pre x y',
    'less +!x f',
    'java -XX:OnError=x A',
    'cmake -E env x',
    'vim x',
    'sed -f - x',
    'sed -f x y',
    'awk -f x',
    'sqlite3 x .shell',
  ])('%s may run another program', (line) => {
    expect(alone(line)).toBe(false);
  });
});
