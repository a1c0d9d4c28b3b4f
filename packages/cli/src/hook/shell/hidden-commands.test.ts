import { describe, expect, test } from 'vitest';
import { foundIn } from './found-in.ts';

/** Each of these runs `rm x`, or may. So it is found, or there is a doubt. */
function tells(sources: readonly string[]): void {
  for (const source of sources) {
    test(JSON.stringify(source), () => {
      const found = foundIn(source);
      const isTold = found.some((line) => line === '?' || /^(?:\S*\/)?rm(?: |$)/.test(line));
      expect(isTold, found.join('\n')).toBe(true);
    });
  }
}

describe('texts for shells', () => {
  tells([
    `bash -oc pipefail 'rm x'`,
    `zsh --emulate sh -c 'rm x'`,
    'bash --rcfile <(echo rm x) -ic ls',
    "bash <<'A' 3<<'B'\nrm x\nA\nls\nB",
    `bash <<<'rm x' 3<<<ls`,
    `exec 3<<<'rm x'; bash <<<ls <&3`,
    `bash <<<ls 0>&3 3<<<'rm x'`,
    `bash /dev/fd/0 <<<'rm x'`,
    `. /dev/fd/0 <<<'rm x'`,
    `cd /dev; echo rm x | bash fd/0`,
    'echo rm x | bash /proc/self/fd/0',
    'echo x | python3 /dev/fd/0',
    `source -- /dev/stdin <<<'rm x'`,
    '. -- <(echo rm x)',
    'eval -- rm x',
    'eval *',
    `emulate sh -c 'rm x'`,
    `alias ls=rm\nls x`,
  ]);
});

describe('words that a wrapper takes', () => {
  tells([
    'echo 5 rm x | xargs nice -n',
    'echo 5 rm x | xargs timeout',
    `echo '. -exec rm {} ;' | xargs find`,
    'find $x',
    `find . "$a" rm x ';'`,
    `find "$a" rm x -name "$b"`,
    'timeout -k $x 5 ls',
    'nice -n $x ls',
    'env A=$x ls',
    `env -S '-i rm x'`,
    `env -S '"r"m x'`,
    `env -S 'rm x' -S ls`,
    'echo rm x | doas -s',
    'echo rm x | unshare -r',
    'echo rm x | chroot /',
    'timeout {,5} rm x',
    `parallel {} ::: 'rm x'`,
    'parallel timeout 5 ::: rm',
    `flock /tmp/l -c 'rm x'`,
    `script /dev/null -c 'rm x'`,
    `strace -o '|rm x' ls`,
    'time -- ! rm x',
    'time -- coproc rm x',
    'valgrind rm x',
    'perf stat rm x',
    'direnv exec . rm x',
    'env 1=2 rm x',
    'xargs --process-slot-var=BASH_ENV bash y',
    'ifne rm x',
    'envdir d rm x',
    'rustup run stable rm x',
    'mise x node -- rm x',
    'bun run - <<< x',
    `mise x -c 'rm x' --`,
    `mise x --command 'rm x' -- ls`,
    `socat - 'SYSTEM:rm x'`,
    `socat - 'E"X"EC:rm x'`,
    String.raw`socat - 'E\XEC:rm x'`,
    'nc -x -e rm host 80',
    'nc -Te rm host 80',
    `cmake --build b -- '--eval=$(shell rm x)'`,
    'cmake --build b -- SHELL=./y',
    `sftp host <<< '!rm x'`,
    `setopt rcquotes; echo 'a'';rm x;'''`,
    "bash <<'E\\\nF'\nls\nEF\nrm x",
    'bwrap --bind / / rm x',
    'cross-env A=1 rm x',
    `tmux new -d 'rm x'`,
    'sshpass -p y rm x',
  ]);
});

describe('everyday commands that run others', () => {
  tells([
    'fd -x rm x',
    'fd . -X rm x',
    `git -c alias.x='!rm x' x`,
    `git -c core.pager='rm x' log`,
    'git bisect run rm x',
    `git submodule foreach 'rm x'`,
    `git rebase --exec 'rm x' main`,
    `git rebase -x 'rm x' main`,
    `git config alias.x '!rm x'`,
    'git $x origin',
    `tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='rm x'`,
    'sort --compress-program=rm x',
    `split --filter='rm x' y`,
    `awk 'BEGIN{system("rm x")}'`,
    `awk '{print | "rm x"}' y`,
    `sed '1e rm x' y`,
    `sed 's/.*/rm x/e' y`,
    '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
    'poetry run rm x',
    'uv run rm x',
    'npm exec -- rm x',
    `npm exec -c 'rm x'`,
    'bundle exec rm x',
    `sg users 'rm x'`,
    `make --eval='all:;rm x'`,
  ]);
});

describe('what changes the meaning of later words', () => {
  tells([
    'command export PATH=/x',
    'timeout 5 env PATH=/x ls',
    'read PATH <<< /x; ls',
    'printf -v PATH /x',
    'for PATH in /x; do ls; done',
    'declare -n y=PATH; y=/x; ls',
    'BASH_CMDS[ls]=/bin/rm; ls x',
    'HOME=/etc; echo x > ~/passwd',
    `env -C /etc sh -c 'echo x > passwd'`,
    'echo x >&$f',
  ]);
});

describe('code between quotes', () => {
  tells([
    `$'\\x{72}m' x`,
    `echo "\${x#'"'}"; rm x; echo } " #"`,
    `echo "\${x/'"'}"; rm x; echo } " #"`,
    `echo $['$(rm x)']`,
    `echo $(( \\$( '$(rm z)\\$( ' ) ))`,
    `[[ 'a[$(rm x)]' -eq 0 ]]`,
    `x='a[$(rm x)]'; ((x))`,
    `declare -a 'x=($(rm x))'`,
    `declare -A x='([$(rm x)]=1)'`,
    `readonly -a 'x=($(rm x))'`,
    `f() { local -a x='($(rm x))'; }; f`,
    `x=(1); declare 'x=($(rm x))'`,
    `v='($(rm x))'; declare -a x="$v"`,
    `v='($(rm x))'; x=(1); declare x=$v`,
    `v='($(rm x))'; read -a x; typeset x="$v"`,
    `v='($(rm x))'; declare -a x; f() { local x=$v; }; f`,
    'echo ${(e)x}',
  ]);
});

test('rules see that xargs adds words', () => {
  expect(foundIn('echo -rf / | xargs rm')).toContain(`rm '$@'`);
});

test('everyday commands leave no doubt', () => {
  const sources = [
    'git -C sub status --short',
    'git -c user.name=ada commit -m "fix: e"',
    'git log --oneline -5 | cat',
    'git push -u origin main',
    `find . -name "$x" -type f`,
    'find "$folder" -maxdepth 2',
    `sed -n '1,5p' a.txt`,
    `sed -i 's/one/e two/; s|a|b|g' a.txt`,
    `awk '/a|b/ {print $1}' $x`,
    `awk -F: '{ if ($1 == "x" || $2) print $2 }' x`,
    'tar -xzf a.tar.gz -C out',
    'tar czf a.tgz src',
    'tar -I zstd -xf a.tar.zst',
    'npm run build',
    'npm test -- --run',
    'uv run pytest -x',
    'make -C sub -j4 test',
    'make -f other.mk',
    'ls *.ts | xargs wc -l',
    'timeout 60 npm test',
    'env CI=1 npm test',
    'x="$(git rev-parse HEAD)"; echo "${x:-none}"',
    'i=0; while ((i < 3)); do i=$((i + 1)); done',
    'echo "it\'s ${x}"',
    'f() { local a=$1; local -r b="$2"; echo "$a$b"; }',
    'declare -a list; list=(a b); declare -A map',
    'bash -n "$f"',
    'uv run python - <<EOF\nimport os\nEOF',
  ];
  for (const source of sources) expect(foundIn(source), source).not.toContain('?');
});
