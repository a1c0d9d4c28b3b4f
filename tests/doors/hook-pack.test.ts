import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bootstrapKey, TestGateway } from '../harness/gateway.ts';
import { reeveCommand } from '../harness/reeve-command.ts';
import type { Approvals } from './hook-host.ts';
import { decisionOf, HookMachine, toolEvent } from './hook-host.ts';

/** The shipped pack, as it is. */
const folder = resolve('packages/cli/packs/coding-agents');
const policies = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);

let machine: HookMachine;
beforeAll(async () => {
  machine = new HookMachine(await TestGateway.start({ policies }));
  for (const name of ['.reeve', '.claude', '.aws', '.ssh', 'work'])
    mkdirSync(join(machine.home.path, name), { recursive: true });
  writeFileSync(join(machine.home.path, '.aws/credentials'), 'x');
  symlinkSync(program(), join(machine.home.path, 'work/tool'));
});
afterAll(() => machine[Symbol.asyncDispose]());

/** What is started here as Reeve. */
function program(): string {
  return reeveCommand.at(-1) ?? '';
}

let uses = 0;
async function ask(tool: string, input: object): Promise<{ decision: string; reason: string }> {
  const cwd = join(machine.home.path, 'work');
  const event = toolEvent('PreToolUse', `s-${++uses}`, 'u', tool, input, { cwd });
  const { decision = 'allow', reason } = decisionOf(await machine.send('claude-code', event, ['--approval-wait', '0']));
  return { decision: reason.startsWith('Waiting for approval') ? 'pending' : decision, reason };
}

test.each([
  'cd ~/.reeve && cat agents.yaml',
  'cd && cd .reeve && cat agents.yaml',
  'cat ~/.re?ve/agents.yaml',
  'cat ~/.r*/agents.yaml',
  'cat $HOME/.r*/agents.yaml',
  'cat ~+/../.r*/agents.yaml',
  'shopt -s dotglob; cat ~/*/agents.yaml',
  'shopt -s globstar; m4 /**/.reeve/agents.yaml',
  "declare -a 'x=($(rm -rf y))'",
  'env 1=2 rm -rf x',
  'git diff --no-index /dev/null ~/.r*/agents.yaml',
  'git show HEAD:x --output ~/.claud?/settings.json',
  'cd ../.claude && git show HEAD:x --output settings.local.json',
  'cd ../.claude && uniq ../work/x settings.local.json',
  'cd ../.claude && tree -o settings.local.json',
  'cd ../.claude && find . -maxdepth 0 -fprintf settings.local.json x',
  `awk 'BEGIN {print "{}",\n"" > ("../.clau" "de/settings.local.json")}'`,
  `awk 'BEGIN {ARGV[1] = "../.ree" "ve/agents.yaml"; ARGC = 2} 1'`,
  'cp -r ~/.reeve copy',
  'cp -r ~ copy',
  'cp -r .. copy',
  'tar czf out.tgz ..',
  'grep -r token ~',
  'ln -s ../.reeve notes',
  'base64 ../.reeve/agents.yaml',
  'openssl enc -in ../.reeve/agents.yaml',
  'mv ~/.claude ~/.old',
  'mv ../.claude ../.old',
  'cd ~/.claude && cp /dev/null settings.json',
  'cd .. && cd .claude && tee settings.json',
  'rm ../.claude/settings.json',
  'cd ~/.aws && cat credentials',
  'cd .. && cat .aws/credentials',
  'cd "$X" && cat credentials',
  'cat ../.a*/credentials',
  'cat /proc/self/environ',
  "pkill -9 -f 'hook claude-code'",
  'find -delete',
  'find . -name x -delete',
  'git reset HEAD~3 --hard',
  'git clean src -fdx',
  'chmod 777 -R .',
  'chmod -R 777 .',
  'chown ada -R .',
  'cp evil .git/hooks/pre-commit && git commit -m x',
  'echo x > .git/hooks/pre-commit',
  'git config core.hooksPath x',
  'gcc -wrapper sh,-c,id x.c',
  'pip config --editor sh edit',
  'sed e',
  "sed -n 's/x/id/e' f",
  'sed -f - x',
  `awk 'BEGIN {print "x" | "id"}'`,
  'git rebase --exec=id main && git archive --exec=id x',
  'git -c sequence.editor=id rebase -i main',
  'tar --checkpoint-act=exec=id -cf a b',
  'sort --co=id f',
  'zip -TT id a b',
  'NPM_CONFIG_SCRIPT_SHELL=x npm test',
  'MAKEFILES=x make',
  'python3 -u -',
  'python3 -I < x',
])('denies %s', async (command) => {
  const { decision, reason } = await ask('Bash', { command });
  expect([decision, reason]).toEqual(['deny', expect.stringContaining('Denied by policy')]);
});

test('denies Reeve itself, however it is started, and changes to it', async () => {
  for (const command of [
    `node ${program()} approvals approve apr_1`,
    `${program()} approvals approve apr_1`,
    './tool approvals approve apr_1',
    'cd .. && work/tool hook uninstall claude-code',
    `cp /dev/null ${program()}`,
    `echo > ${program()}`,
  ]) {
    expect([command, (await ask('Bash', { command })).decision]).toEqual([command, 'deny']);
  }
  expect((await ask('Write', { file_path: program(), content: '' })).decision).toBe('deny');
});

test('denies tools of the host the folders as well', async () => {
  const home = machine.home.path;
  const denied = [
    await ask('Grep', { pattern: 'token', path: '~/.reeve' }),
    await ask('Grep', { pattern: 'token', path: home }),
    await ask('Read', { file_path: join(home, '.reeve/agents.yaml') }),
    await ask('Glob', { pattern: '*', path: join(home, '.aws') }),
    await ask('Glob', { pattern: join(home, '.reeve/*') }),
    await ask('Glob', { pattern: '../.aws/cred*' }),
    await ask('Glob', { pattern: '{src,../.ssh}/*' }),
    await ask('Glob', { pattern: '**/../../.reeve/*' }),
    await ask('Write', { file_path: join(home, 'work/.git/hooks/pre-commit'), content: '' }),
    await ask('Edit', { file_path: join(home, '.claude/settings.json') }),
  ];
  expect(denied.map(({ decision }) => decision)).toEqual(Array.from({ length: 10 }, () => 'deny'));
});

test.each([
  'ls -la && cat package.json | head -5',
  'cd src && npm test',
  'cd "$(git rev-parse --show-toplevel)" && npm test',
  'grep -rn foo . | sort -u | head',
  'find . -name "*.ts" -exec wc -l {} +',
  "sed -n '1,20p' a.txt",
  `awk -F, '{print $2}' data.csv`,
  'git status --short && git diff $(git merge-base main HEAD)',
  'git add -A && git commit -m "Add x" && git log --oneline -3',
  'mkdir -p out && cp a.txt out/ && mv out/a.txt b.txt && rm b.txt',
  'cat /etc/os-release',
  'tar xzf a.tgz -C out',
  'python3 -m pytest -x tests',
  'node --test',
  'make -j4 test',
  'pip list',
  'cat ../.claude/CLAUDE.md',
  'ls ~',
])('allows %s', async (command) => {
  expect(await ask('Bash', { command })).toEqual({ decision: 'allow', reason: '' });
});

test('gives people an hour, and counts no verdict of who registered the agent', async () => {
  expect((await ask('Bash', { command: 'git push origin main' })).decision).toBe('pending');
  const { body } = await machine.gateway.api.get<Approvals>('/api/v1/approvals?state=open', bootstrapKey);
  const [approval] = body.items;
  const given = Date.parse(approval?.expires_at ?? '') - Date.parse(approval?.requested_at ?? '');
  expect(given).toBe(3_600_000);
  const path = `/api/v1/approvals/${approval?.id ?? ''}/approve`;
  const answer = await machine.gateway.api.post(path, bootstrapKey, { reason: '' });
  expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('own_approval')]);
});
