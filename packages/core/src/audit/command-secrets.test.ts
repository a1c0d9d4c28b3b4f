import { expect, describe, test } from 'vitest';
import { redact, redactArguments, redactText } from './redact.ts';
import { redacted } from './secret-options.ts';

/** Every text holds `hunter2`, or parts of it, as a password. */
const texts: Readonly<Record<string, readonly string[]>> = {
  'a line that goes on in the next': [
    'curl \\\n  -u admin:hunter2',
    'curl -s \\\n  --user \\\n  admin:hunter2 \\\n  https://example.com',
    'curl -s \\\r\n  -u admin:hunter2',
    'curl -u\\\nadmin:hunter2 https://example.com',
    'curl -u admin:hun\\\nter2 https://example.com',
    'mysql -h db \\\n  -u root \\\n  -phunter2 app',
    'mysql -p\\\nhunter2 app',
    'mysqldump \\\n -phunter2 app > dump.sql',
    'sshpass \\\n  -p hunter2 ssh host',
    'sshpass -p \\\n  hunter2 ssh host',
    'curl.exe ^\r\n  -u admin:hunter2',
    'curl.exe `\n  -u admin:hunter2',
  ],
  'what ends a command, in quotes': [
    'curl "https://x/?a=1&b=2" -u admin:hunter2',
    "curl 'https://x/?a=1&b=2' -u admin:hunter2",
    'curl https://x/?a=1&b=2 -u admin:hunter2',
    "curl -H 'Accept: a; q=1' -u admin:hunter2",
    'curl -H "Accept: a; q=1" -H "X: \\"b;c\\"" -u admin:hunter2',
    'curl -d "a|b" -u admin:hunter2',
    "curl -d 'line one\nline two' -u admin:hunter2",
    "curl -d 'C:\\' -H 'a;b' -u admin:hunter2",
    'curl -d "it\'s; it" -u admin:hunter2',
    "curl -d 'say \"hi;' -u admin:hunter2",
    'mysql -e "select 1; select 2" -phunter2',
    'mysql -e \'select "a;b"; select 2\' -phunter2',
    'bash -c \'curl "https://x/?a=1&b=2" -u admin:hunter2\'',
    'bash -c "curl -H \'Accept: a; q=1\' -u admin:hunter2"',
    'bash -c "curl -d \\"a|b\\" -u admin:hunter2"',
    'bash -c \'mysql -e "select 1; select 2" -phunter2\'',
    'sh -c \'cd /tmp; curl -d "a;b" -u admin:hunter2; ls\'',
    'curl https://x 2>&1 -u admin:hunter2',
    'curl https://x &> log -u admin:hunter2',
    'curl -d a\\;b -u admin:hunter2',
    "don't use curl -H 'a;b' -u admin:hunter2, it's bad",
    "the users' way: curl -H 'a;b' -u admin:hunter2",
    'a disk of 5" is full\ncurl -H "a;b" -u admin:hunter2',
    "# rock'n roll\ncurl -H 'a;b' -H 'c|d' -u admin:hunter2",
  ],
  'a password in quotes of its own': [
    'curl -u admin:"hunter2"',
    "curl -u admin:'hunter2'",
    'curl -u "admin":"hunter2"',
    'curl -u "admin:"hunter2 https://x',
    'curl -u "admin:"\'hunter2\' https://x',
    "curl -u admin:$'hunter2' https://x",
    'curl --user=admin:"hunter2"',
    'curl "-u" "admin:hunter2"',
    'curl "-uadmin:hunter2" x',
    'curl "--user=admin:my hunter2" x',
    'curl -u admin:my\\ hunter2 x',
    "mysql -p'hun'ter2",
    'mysql -phun"ter2"',
    'mysql -p"hun"\'ter2\'',
    "mysql '-phunter2' app",
    "sshpass -p'hun'ter2 ssh host",
    'sshpass -p "hun"ter2 ssh host',
    'mysql -p$(echo hunter2) app',
    "bash -c 'curl -u '\"'\"'admin:hunter2'\"'\"' https://x'",
    "bash -c 'curl -u '\\''admin:hunter2'\\'' https://x'",
    "bash -c 'sshpass -p '\\''hunter2'\\'' ssh host'",
    "bash -c 'mysql -p'\"'\"'hunter2'\"'\"' app'",
    "Don't forget: curl -u 'admin:hunter2' https://x",
    "users' curl: curl -u admin:'hunter2' https://x",
  ],
  'a program glued to something': [
    '$(curl -u admin:hunter2 https://x)',
    '(curl -u admin:hunter2 https://x)',
    '(curl https://x -u admin:hunter2)',
    'x=$(curl -s -u admin:hunter2 https://x)',
    'x="$(curl -s -u admin:hunter2 https://x)"',
    'diff <(curl -u admin:hunter2 https://x) b',
    '`curl -u admin:hunter2 https://x`',
    'x=`curl https://x -u admin:hunter2`',
    'use `curl` with `-u admin:hunter2`',
    'all:\n\t@curl -u admin:hunter2 https://x',
    '@-curl -u admin:hunter2 https://x',
    '-curl -u admin:hunter2 https://x',
    '!curl -u admin:hunter2 https://x',
    '{ curl -u admin:hunter2 https://x; }',
    '{curl,-u,x} ; {curl -u admin:hunter2',
    '\\curl -u admin:hunter2 https://x',
    'sudo curl -u admin:hunter2 https://x',
    'sudo -u bob curl -u admin:hunter2 https://x',
    'env X=1 curl -u admin:hunter2 https://x',
    'X=1 curl -u admin:hunter2 https://x',
    'true&&curl -u admin:hunter2',
    'true;mysql -phunter2',
    'false||sshpass -p hunter2 ssh host',
    'curl $(cat urls | head -1) -u admin:hunter2',
    'curl "$(echo "a;b" | cat)" -u admin:hunter2',
    'curl -u $(sshpass -p hunter2 ssh host cat me)',
    'curl -u a:b;mysql -phunter2',
    'curl -u a:b|sshpass -p hunter2 ssh host',
    '@mysql -phunter2',
    '$(sshpass -p hunter2 ssh host)',
    'C:\\tools\\curl.exe -o C:\\new\\ -u admin:hunter2',
  ],
  'letters before that of the option, and its other names': [
    'sshpass -vp hunter2 ssh host',
    'sshpass -vphunter2 ssh host',
    'sshpass -v -p hunter2 ssh host',
    'curl -su admin:hunter2 https://x',
    'curl -sSLuadmin:hunter2 https://x',
    'curl --user=admin:hunter2 https://x',
    'curl --proxy-user admin:hunter2 https://x',
    'curl --proxy-user=admin:hunter2 https://x',
    'curl -U admin:hunter2 https://x',
    'curl -sU admin:hunter2 https://x',
    'mysql -sNphunter2 app',
    'curl -o /tmp/mysql -u admin:hunter2',
    'curl -o sshpass -u admin:hunter2',
    'curl -u -s -u admin:hunter2',
  ],
  'a list of arguments that is written down': [
    '["curl", "-u", "admin:hunter2"]',
    "subprocess.run(['sshpass', '-p', 'hunter2', 'ssh', 'host'])",
    'exec("mysql","-phunter2")',
    '[\n  "curl",\n  "-u",\n  "admin:hunter2"\n]',
    '["sshpass",\r\n "-p",\r\n "hunter2"]',
  ],
  'a blank as JSON writes it': [
    '{"run":"cd /tmp\\ncurl -u admin:hunter2"}',
    '{"run":"curl\\t-u\\tadmin:hunter2"}',
    '{"run":"curl -u a:b\\nmysql -phunter2"}',
  ],
};

const forms = Object.entries(texts).flatMap(([form, all]) => all.map((text) => [form, text] as const));

/** No part of a password may be left. */
function expectHidden(shown: string): void {
  expect(shown).not.toMatch(/hun|ter2/);
  expect(shown).toContain(redacted);
}

describe.each(forms)('%s: %j', (_, text) => {
  test('holds no password when it is redacted', () => {
    expectHidden(redactText(text));
    expectHidden(redactText(`first\n${text}`));
    expectHidden(redactText(`${text}\nlast`));
    expect(redactText(redactText(text))).toBe(redactText(text));
  });

  test('holds none within JSON', () => {
    expectHidden(redactText(JSON.stringify({ run: text })));
    expectHidden(redactText(JSON.stringify(JSON.stringify({ run: text, n: 1 }))));
  });

  test('holds none as an argument', () => {
    expectHidden(redactArguments(['-c', text], 'bash').join(' '));
    expectHidden(JSON.stringify(redact({ steps: [{ run: text }] })));
  });
});

describe('the arguments of a command', () => {
  test.each([
    ['env curl', ['-u', 'admin:hunter2']],
    ['curl -s', ['-u', 'admin:hunter2']],
    ['sudo -n /usr/bin/curl', ['-su', 'admin:hunter2']],
    ['curl -u', ['admin:hunter2']],
    ['C:\\Program Files (x86)\\curl.exe', ['-u', 'admin:hunter2']],
    ['curl', ['-o', '/tmp/mysql', '-u', 'admin:hunter2']],
    ['curl', ['-o', 'sshpass', '--user=admin:hunter2']],
    ['curl', ['-s -u admin:hunter2 https://x']],
    ['curl', ['-d', 'a;b', '-H', 'Accept: a; q=1', '-U', 'admin:hunter2']],
    ['curl', ['-d', 'a\nb', '--proxy-user', 'admin:hunter2']],
    ['curl', ['-u', '-s', '-u', 'admin:hunter2']],
    ['curl', ['-u', '"admin":"hunter2"']],
    ['env', ['X=1', 'curl', '-u', 'admin:hunter2']],
    ['ssh', ['host', 'curl -s', '-u', 'admin:hunter2']],
    ['ssh', ['host', 'curl -u', 'admin:hunter2']],
    ['sshpass', ['-vp', 'hunter2', 'ssh', 'host']],
    ['sshpass -v', ['-phunter2', 'ssh', 'host']],
    ['sudo mysql', ['-uroot', '-phunter2']],
    ['mysql', ['-e', 'select 1; select 2', '-phunter2']],
    ['mariadb-dump', ['-sphunter2']],
    ['bash', ['-c', 'curl \\\n -u admin:hunter2']],
  ])('%s %j', (command, args) => {
    expectHidden(redactArguments(args, command).join(' '));
    expectHidden(redactArguments([...command.split(' '), ...args]).join(' '));
    expectHidden(JSON.stringify(redact({ command, args })));
    expectHidden(JSON.stringify(redact({ deep: [{ cmd: command, argv: args }] })));
  });

  test('may be one text beside it', () => {
    expect(redact({ command: 'curl', args: '-s -u me:hunter2 https://x', cwd: '/tmp' })).toEqual({
      command: 'curl',
      args: `-s -u me:${redacted} https://x`,
      cwd: '/tmp',
    });
  });
});

test.each([
  ['curl -u "me:hunter2 x" https://x', `curl -u "me:${redacted}" https://x`],
  ["sshpass -p 'hunter2' ssh -p 22 host", `sshpass -p '${redacted}' ssh -p 22 host`],
  ["sshpass '-phunter2' ssh -p 22 host", `sshpass '-p${redacted}' ssh -p 22 host`],
  ['curl -u me:hunter2; docker run -u 1:2 x', `curl -u me:${redacted}; docker run -u 1:2 x`],
  ['x=$(curl -u me:hunter2)', `x=$(curl -u me:${redacted})`],
  ['run `curl -u me:hunter2` now', `run \`curl -u me:${redacted}\` now`],
  ['{"run":"curl -u me:hunter2","n":1}', `{"run":"curl -u me:${redacted}","n":1}`],
  ['["curl", "-u", "me:hunter2", "x"]', `["curl", "-u", "me:${redacted}", "x"]`],
  ['curl \\\n  -u me:hunter2 \\\n  https://x', `curl \\\n  -u me:${redacted} \\\n  https://x`],
  ['mysql -phunter2 app < a.sql', `mysql -p${redacted} app < a.sql`],
])('what surrounds the password stays readable: %j', (text, shown) => {
  expect(redactText(text)).toBe(shown);
});

describe('innocent text', () => {
  test.each([
    'curl https://x && docker run -u 1000:1000 x',
    'curl https://x | sort -u a:b',
    'curl https://x\nrsync -u a host:b',
    'bash -c "curl https://x; ls" && docker run -u 1:2 x',
    '$(curl https://x); docker run -u 1:2 x',
    "it's curl that doesn't work; docker run -u 1:2 x",
    'libcurl -u a:b',
    'use "curl -u" or "sshpass -p", as you like',
    'the options `mysql -p` and `curl -u` ask for a password.',
    'run "mysql -u root -p", then type it',
    'curl -u me -o C:\\temp\\new https://x:80/',
    'mysql -u root -p app -e "select 1; select 2"',
    'docker run -p 3306:3306 -v data:/var/lib/mysql mysql:8',
    'curl -u "$CREDENTIAL" https://x',
    'ya29.com is an address',
  ])('%j is left as it is', (text) => {
    expect(redactText(text)).toBe(text);
  });

  test.each([
    ['curl', ['-o', 'u:p', 'https://x/a:b']],
    ['mysql', ['-u', 'root', '-p', 'app']],
    ['docker', ['run', '-u', '1000:1000', 'x']],
  ])('%s %j is left as it is', (command, args) => {
    expect(redactArguments(args, command)).toEqual(args);
  });
});

test.each(['ya29.c.Kp8B0aBcDeFgHiJkLm', 'ya29.d.Ci_0aBcDeFgHiJkLm-x', 'ya29.a.b.c.0aBcDeFgHiJkLm'])(
  'a dotted token is recognised: %s',
  (token) => {
    expect(redactText(`use ${token} now`)).toBe(`use ${redacted} now`);
  },
);
