import { expect, test } from 'vitest';
import { planShell } from './plan-actions.ts';

const own = {
  folder: '/home/ada/.reeve',
  settings: ['/home/ada/.claude/settings.json'],
  isProgram: () => false,
  isOfProgram: () => false,
  isChangedAt: () => false,
  find: () => undefined,
};

/** What a line does to files, and what of it is in doubt. */
function filesOf(command: string): readonly string[] {
  return planShell(command, { cwd: '/home/ada/work', home: '/home/ada', own }).flatMap(({ action }) => {
    if (action.type === 'file_operation') return [`${action.operation} ${action.path}`];
    return action.type === 'process_exec' && action.command === '?' ? ['?'] : [];
  });
}

test.each([
  ['uniq a b', 'write /home/ada/work/b'],
  ['uniq -c -f 1 a b', 'write /home/ada/work/b'],
  ['xxd -r a b', 'write /home/ada/work/b'],
  ['tree -o out', 'write /home/ada/work/out'],
  ['sort -oout a', 'write /home/ada/work/out'],
  ['sort -uo out a', 'write /home/ada/work/out'],
  ['find . -fprint out', 'write /home/ada/work/out'],
  ['find . -maxdepth 0 -fprintf out x', 'write /home/ada/work/out'],
  ['find -files0-from list', 'read /home/ada/work/list'],
  ['grep -fwords a', 'read /home/ada/work/words'],
  ['jq -n --slurpfile x data .', 'read /home/ada/work/data'],
  ['git log --output=out', 'write /home/ada/work/out'],
  ['git show --output out', 'write /home/ada/work/out'],
  ['git diff --no-index a b', 'read /home/ada/work/b'],
  ['command time -f x -ao out ls', 'write /home/ada/work/out'],
  ['time -o out ls', 'write /home/ada/work/out'],
  ['strace --output=out ls', 'write /home/ada/work/out'],
  ['xargs -a list echo', 'read /home/ada/work/list'],
  ['xargs -n 1 --arg-file=list echo', 'read /home/ada/work/list'],
  ['date -f list', 'read /home/ada/work/list'],
  ['date -u +%s --file=list', 'read /home/ada/work/list'],
  ['wc --files0-from=list', 'read /home/ada/work/list'],
  ['sort --files0-from=list', 'read /home/ada/work/list'],
  ['du --files0-from list', 'read /home/ada/work/list'],
  ['batcat -l yaml a', 'read /home/ada/work/a'],
  ['ack x a', 'read /home/ada/work/a'],
  ['cat $HOME/.r*/agents.yaml', 'read /home/ada/.r*/agents.yaml'],
  ['cat ~bob/x', '?'],
  ['cat ~+/x', '?'],
  ['git -C ../.claude show --output settings.local.json', 'write /home/ada/.claude/settings.local.json'],
  ['shopt -s dotglob; cat ~/*/agents.yaml', '?'],
  ['shopt -s nocaseglob; cat ~/.R*/agents.yaml', '?'],
  ['bash -O dotglob -c "cat ~/*/agents.yaml"', '?'],
  ['shopt -s globstar; cp /**/.reeve/agents.yaml x', 'read /**/.reeve/agents.yaml'],
  ['GLOBIGNORE=x; cat ~/*/agents.yaml', '?'],
  ['GIT_TRACE=/home/ada/.claude/x git status', '?'],
])('%s: %s', (command, expected) => {
  expect(filesOf(command)).toContain(expected);
});

test.each([
  'openssl enc -in ~/.re?ve/agents.yaml',
  'openssl enc -in $HOME/.r*/agents.yaml',
  'm4 ~/.r*/agents.yaml',
  'shopt -s globstar; m4 /**/.reeve/agents.yaml',
  'm4 /**/ada/**/.r*/**',
])('a program that is not known touches what is Reeve’s own by a pattern: %s', (command) => {
  expect(filesOf(command)).toContain('write /home/ada/.reeve');
});

test('folders with a dot are in no pattern without one', () => {
  expect(filesOf('m4 ~/**')).toEqual([]);
  expect(filesOf('m4 ~/work/**/*.ts')).toEqual([]);
});

test.each([
  ['find . -name x', 'read /home/ada/work'],
  ['find -name x', 'read /home/ada/work'],
  ['find -L src ../lib -type f', 'read /home/ada/work/src', 'read /home/ada/lib'],
  ['find -E -s src -regex x', 'read /home/ada/work/src'],
  ["find '(x)' ~/.secret -name x", 'read /home/ada/work/(x)', 'read /home/ada/.secret'],
  ['find - ~/.secret ! -name x', 'read /home/ada/work/-', 'read /home/ada/.secret'],
  ['find -$a src -name x', 'read /home/ada/work/src', '?'],
  [String.raw`find . \( -name a -o -name b \) -print0`, 'read /home/ada/work'],
  [
    'find . -newer a -anewer b -newermt 2024-01-15',
    'read /home/ada/work',
    'read /home/ada/work/a',
    'read /home/ada/work/b',
  ],
  ['find . -newercm a -samefile b', 'read /home/ada/work', 'read /home/ada/work/a', 'read /home/ada/work/b'],
  ['find . -fprint0 out -fls list', 'read /home/ada/work', 'write /home/ada/work/out', 'write /home/ada/work/list'],
  ['find -files0-from list -name x', 'read /home/ada/work/list'],
  ['find src -name x -delete', 'write /home/ada/work/src'],
  ['find src -exec grep x {} +', 'read /home/ada/work/src'],
  [String.raw`find src -exec cp {} out \;`, 'read /home/ada/work/src', 'write /home/ada/work/out'],
  [String.raw`find src -exec rm -f {} \;`, 'read /home/ada/work/src', 'write /home/ada/work/src'],
  ['find src -exec rm -f {} +', 'read /home/ada/work/src', 'write /home/ada/work/src'],
  [String.raw`find src -exec some-program {} \;`, 'read /home/ada/work/src', 'write /home/ada/work/src'],
  [
    String.raw`find src -execdir touch here \;`,
    'read /home/ada/work/src',
    'write /home/ada/work/src',
    'write /home/ada/work/here',
  ],
])('%s does this to files, and nothing else', (command, ...expected) => {
  expect(new Set(filesOf(command))).toEqual(new Set(expected));
});

test.each([
  ['tar cf out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar -czf out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar -c -f out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar -cfout.tar src', 'read src', 'write out.tar'],
  ['tar --create --file=out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar --append --file out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar cbf 20 out.tar src', 'read src', 'read out.tar', 'read 20', 'write out.tar'],
  ['tar rf out.tar src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar -c -f out.tar -Ttd src', 'read src', 'read out.tar', 'write out.tar'],
  ['tar tf out.tar', 'read out.tar'],
  ['tar --list --file=out.tar', 'read out.tar'],
  ['tar xf out.tar', 'read out.tar', 'write out.tar'],
])('%s does this to files of the folder', (command, ...expected) => {
  const inFolder = filesOf(command).map((file) => file.replace('/home/ada/work/', ''));
  expect(new Set(inFolder)).toEqual(new Set(expected));
});

test.each([
  'find . -delete',
  'tar xf a.tar',
  'cat a < a; grep -r x . > a; cp -r . b',
  'rm -r a; rm a',
  'cat a; cat ./a',
])('nothing is asked twice of %s', (command) => {
  const asked = filesOf(command);
  expect(asked.length).toBe(new Set(asked).size);
});

test('what is asked once is the most that any part of the line does', () => {
  const all = planShell('cat < a; cp -r a b', { cwd: '/home/ada/work', home: '/home/ada', own });
  expect(all.filter(({ action }) => 'path' in action && action.operation === 'read')).toMatchObject([{ isDeep: true }]);
});

test('ordinary lines touch nothing else', () => {
  expect(filesOf('uniq -c a')).toEqual(['read /home/ada/work/a']);
  expect(filesOf('git diff main -- src/*.ts')).toEqual([]);
  expect(filesOf('prettier --write src/*.ts')).toEqual([]);
  expect(filesOf('grep -e x a')).toEqual(['read /home/ada/work/a']);
  expect(filesOf('sort -k2 -t, a')).toEqual(['read /home/ada/work/a']);
});
