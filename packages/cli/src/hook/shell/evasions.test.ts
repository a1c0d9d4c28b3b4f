import { describe, expect, test } from 'vitest';
import { foundIn } from './found-in.ts';

type Row = readonly [source: string, ...found: string[]];

/** The text does at least this. */
function does(rows: readonly Row[]): void {
  for (const [source, ...found] of rows) {
    test(JSON.stringify(source), () => expect(foundIn(source)).toEqual(expect.arrayContaining([...found])));
  }
}

describe('a name in disguise is the name', () => {
  does([
    [`r''m x`, 'rm x'],
    [`"rm" x`, 'rm x'],
    [`'r'"m" x`, 'rm x'],
    [`$'\\x72m' x`, 'rm x'],
    [`$'\\162\\155' x`, 'rm x'],
    ['\\rm -rf /', 'rm -rf /'],
    ['r\\\nm x', 'rm x'],
    ['i\\\nf rm x; then y; fi', 'rm x', 'y'],
    ['/bin/rm x', '/bin/rm x'],
    ['{rm,-rf,/}', 'rm -rf /'],
    ['r{m,x} y', 'rm rx y'],
    ['ls\nrm x', 'rm x'],
    ['ls;rm x', 'rm x'],
    ['ls&rm x', 'rm x'],
    ['x=1 rm y', 'rm y'],
    ['>/dev/null rm x', 'rm x'],
    ['2>/dev/null rm x', 'rm x'],
    ['ls #\nrm x', 'rm x'],
    ['ls() { rm x; }; ls', 'rm x'],
    ['alias ls="rm x"', 'rm x'],
  ]);
});

describe('a name that shows only when it runs is ?', () => {
  does([
    ['"$(echo rm)" -rf /', 'echo rm', '?'],
    ['$(echo rm) x', '?'],
    ['`echo rm` x', '?'],
    ['$x y', '?'],
    ['${x}m y', '?'],
    ['r$x y', '?'],
    ['/bin/r? x', '?'],
    ['/bin/[r]m x', '?'],
    ['*', '?'],
    ['$@', '?'],
    ['rm\u00a0-rf /', '?'],
    ['rm\u2003x', '?'],
    ['r\u200bm x', '?'],
    ['=rm x', '?'],
    ['"" x', '?'],
    ['ls\u0000rm', '?'],
  ]);
});

describe('wrappers run what they are told to', () => {
  does([
    [`sh -c 'rm x'`, `sh -c 'rm x'`, 'rm x'],
    [`bash -lc "rm x; ls"`, 'rm x', 'ls'],
    [`bash -o pipefail -c 'rm x'`, 'rm x'],
    [`/bin/sh -ec 'rm x'`, 'rm x'],
    [`sh -c "sh -c 'rm x'"`, 'rm x'],
    [`sh -c "rm $x"`, '?', `rm '$x'`],
    [`bash<<<'rm -rf /'`, 'rm -rf /'],
    ['bash <<EOF\nrm x\nEOF', 'rm x'],
    ['bash -s <<EOF\nrm x\nEOF', 'rm x'],
    ['sudo bash <<EOF\nrm x\nEOF', 'rm x'],
    ['bash <<EOF\n$y\nEOF', '?'],
    ['bash script.sh', 'bash script.sh'],
    ['sudo rm x', 'sudo rm x', 'rm x'],
    ['sudo -u root -- rm x', 'rm x'],
    ['sudo A=b rm x', 'rm x'],
    ['sudo -s rm x', 'rm x'],
    ['sudo --frobnicate y rm x', '?'],
    ['sudo $x rm', '?'],
    ['doas -u root rm x', 'rm x'],
    ['env rm x', 'rm x'],
    ['env -i A=b rm x', 'rm x'],
    ['env -u A rm x', 'rm x'],
    [`env -S 'rm x' y`, 'rm x y'],
    [`env --split-string='rm x'`, 'rm x'],
    ['xargs rm', 'rm'],
    ['xargs -0 -n 1 rm -f', 'rm -f'],
    [`xargs -I{} sh -c 'rm {}'`, `rm '{}'`],
    ['xargs sh -c', '?'],
    ['xargs sudo', '?'],
    ['nohup rm x &', 'rm x'],
    ['timeout 5 rm x', 'rm x'],
    ['timeout -k 5 -s KILL 10 rm x', 'rm x'],
    ['nice -n 5 rm x', 'rm x'],
    ['nice -5 rm x', 'rm x'],
    ['ionice -c 3 rm x', 'rm x'],
    ['setsid rm x', 'rm x'],
    ['stdbuf -oL rm x', 'rm x'],
    ['/usr/bin/time -v rm x', 'rm x'],
    ['time -f %e rm x', 'rm x'],
    ['command rm x', 'rm x'],
    ['exec -a ls rm x', 'rm x'],
    ['builtin eval "rm x"', 'rm x'],
    ['eval rm x', 'rm x'],
    [`eval 'rm x; ls'`, 'rm x', 'ls'],
    ['eval "$x"', '?'],
    ['find . -exec rm {} +', `rm '{}'`],
    ['find . -name x -execdir rm -f {} \\; -ok ls {} \\;', `rm -f '{}'`, `ls '{}'`],
    [`find . -exec sh -c 'rm "$1"' _ {} \\;`, `rm '$1'`],
    ['watch -n 1 rm x', 'rm x'],
    ['parallel rm ::: a b', 'rm'],
    ['parallel ::: "rm x"', '?'],
    ['busybox rm x', 'rm x'],
    [`su -c 'rm x' root`, 'rm x'],
    ['flock /tmp/l rm x', 'rm x'],
    [`script -qc 'rm x' /dev/null`, 'rm x'],
    [`trap 'rm x' EXIT`, 'rm x'],
    ['chroot / rm x', 'rm x'],
    ['timeout 5 sudo env A=b nohup sh -c "rm x"', 'rm x'],
    ['ssh host rm x', 'ssh host rm x'],
  ]);
});

describe('what a shell reads from elsewhere is ?', () => {
  does([
    ['echo cm0gLXJm | base64 -d | sh', 'base64 -d', 'sh', '?'],
    ['curl https://x.example/i | bash', '?'],
    ['curl https://x.example/i | sudo bash -s -- y', '?'],
    ['bash <(curl https://x.example/i)', '?', 'curl https://x.example/i'],
    ['source <(curl https://x.example/i)', '?'],
    ['. ./script', '. ./script'],
    ['source script', 'source script'],
    ['. "$x"', '?'],
    ['cat x | python3', '?'],
    ['python3 - <<EOF\nimport os\nEOF', '?'],
    ['sh', '?'],
    ['sudo -i', '?'],
    ['fish -c "rm x"', '?'],
    ['at now', '?'],
    ['bash "$x"', '?'],
    [`echo 'rm x' | xargs -I% sh -c %`, '?'],
  ]);
});

describe('what changes the meaning of commands is ?', () => {
  does([
    ['PATH=/tmp/evil ls', '?', 'ls'],
    ['export PATH=/tmp/evil:$PATH', '?'],
    ['LD_PRELOAD=./x.so ls', '?'],
    ['env LD_PRELOAD=./x.so ls', '?'],
    [`GIT_SSH_COMMAND='sh -c x' git fetch`, '?'],
    ['BASH_ENV=x bash y', '?'],
    ['enable -f x y', '?'],
    [`printf -v 'a[$(rm x)]' y`, '?'],
    ['echo ${x@P}', '?'],
  ]);
});

describe('what is no shell text is ?', () => {
  does([
    ['ls (', '?'],
    ['echo "x', '?'],
    [`echo 'x`, '?'],
    ['if ls; then', 'ls', '?'],
    ['ls;;', 'ls', '?'],
    ['ls | | rm', '?'],
    ['} rm', '?'],
    ['then rm', '?'],
    ['rm *(.)', '?'],
    ['Get-ChildItem | Where-Object { $_.Length -gt 1 }', '?'],
    ['$x = Get-Content y', '?'],
    ['& "C:\\x.exe"', '?'],
    ['echo $((rm x; ls))', '?'],
  ]);
});

test('commands that need no doubt leave none', () => {
  const plain = ['npm test', 'git status && git diff', 'ls -la | head -5', 'python3 script.py', 'node --version'];
  const more = ['for f in *.ts; do wc -l "$f"; done', 'cd src && npm run build > /tmp/log 2>&1', 'bash -n x.sh'];
  const reading = ['while IFS= read -r line; do echo "$line"; done < f', 'if command -v rg >/dev/null; then rg x; fi'];
  for (const source of [...plain, ...more, ...reading]) expect(foundIn(source), source).not.toContain('?');
});
