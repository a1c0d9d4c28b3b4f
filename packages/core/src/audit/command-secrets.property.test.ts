import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { charset } from '../testkit/secrets.ts';
import { redact, redactArguments, redactText } from './redact.ts';

/** The words of a command, as the shell gets them and as the program gets them. */
interface Words {
  readonly shell: readonly string[];
  readonly args: readonly string[];
}

function words(shell: string, ...args: string[]): Words {
  return { shell: [shell], args };
}

/** A password of two halves, and what is between them. Neither half may remain. */
interface Secret {
  readonly shell: string;
  readonly plain: string;
  readonly halves: readonly [string, string];
}

const half = charset('abcdefgXYZ0123456789', 6, 10).map((tail) => `Q7${tail}`);

type Style = (a: string, middle: string, b: string) => string;
const styles: readonly (readonly [Style, readonly string[]])[] = [
  [(a, middle, b) => `${a}${middle}${b}`, ['', '-', '_', '.', '!', '%', '@', ':', '=', ',']],
  [(a, middle, b) => `${a}\\${middle}${b}`, [' ', ';', '|', '&', '(', ')', '$', "'", '"']],
  [(a, middle, b) => `'${a}${middle}${b}'`, ['', ' ', ';', '|', '&', '"', '(', ')', '$', '#', '\\', ' - ', '; ', '\n']],
  [(a, middle, b) => `"${a}${middle}${b}"`, ['', ' ', ';', '|', '&', "'", '(', ')', '#', ' - ', '; ', '\n']],
  [(a, middle, b) => `"${a}\\${middle}${b}"`, ['"', '$', '`']],
  [(a, middle, b) => `$'${a}${middle}${b}'`, ['', ' ', ';', '"']],
  [(a, middle, b) => `'${a}'${middle}${b}`, ['', '-', '.']],
  [(a, middle, b) => `${a}${middle}"${b}"`, ['', '-', '.']],
  [(a, middle, b) => `"${a}"'${middle}${b}'`, ['', ' ', ';']],
  [(a, middle, b) => `${a}${middle}\\\n${b}`, ['', '-']],
];
const secret: fc.Arbitrary<Secret> = fc
  .tuple(half, half, fc.constantFrom(...styles))
  .chain(([a, b, [write, middles]]) =>
    fc.constantFrom(...middles).map(
      (middle): Secret => ({
        shell: write(a, middle, b),
        plain: a + middle + b,
        halves: [a, b],
      }),
    ),
  );

/** For each program: what may come before the option, and how it takes the password. */
interface Program {
  readonly names: readonly string[];
  readonly others: readonly Words[];
  readonly options: readonly ((secret: Secret) => Words)[];
}

const curl: Program = {
  names: ['curl', '/usr/bin/curl', 'curl.exe', '"curl"'],
  others: [
    words('-s', '-s'),
    words('-o /tmp/mysql', '-o', '/tmp/mysql'),
    words("-H 'Accept: a; q=1'", '-H', 'Accept: a; q=1'),
    words('-d "a|b"', '-d', 'a|b'),
    words("-d 'say \"x;y'", '-d', 'say "x;y'),
    words('-d "it\'s; so"', '-d', "it's; so"),
    words('-d "say \\"a;b\\" & go"', '-d', 'say "a;b" & go'),
    words('-d a\\;b', '-d', 'a;b'),
    words("-d 'one\ntwo'", '-d', 'one\ntwo'),
    words('"https://x/?a=1&b=2"', 'https://x/?a=1&b=2'),
    words('$(cat urls | head -1)', 'https://x'),
    words('"$(echo "a;b" | cat)"', 'https://x'),
    words('2>&1'),
    words('-u me', '-u', 'me'),
  ],
  options: [
    ({ shell, plain }) => ({ shell: ['-u', `me:${shell}`], args: ['-u', `me:${plain}`] }),
    ({ shell, plain }) => ({ shell: ['--user', `"me":${shell}`], args: ['--user', `me:${plain}`] }),
    ({ shell, plain }) => ({ shell: ['-sSU', `'me:'${shell}`], args: ['-sSU', `me:${plain}`] }),
    ({ shell, plain }) => words(`-ume:${shell}`, `-ume:${plain}`),
    ({ shell, plain }) => words(`--proxy-user=me:${shell}`, `--proxy-user=me:${plain}`),
    ({ shell, plain }) => ({ shell: ['"-u"', `me:${shell}`], args: ['-u', `me:${plain}`] }),
  ],
};
const mysql: Program = {
  names: ['mysql', 'mysqldump', 'mariadb', '/opt/mysql/bin/mysql', "'mysql'"],
  others: [
    words('-u root', '-u', 'root'),
    words('-h db', '-h', 'db'),
    words('-e "select 1; select 2"', '-e', 'select 1; select 2'),
    words('-e \'select "a|b"\'', '-e', 'select "a|b"'),
    words('app', 'app'),
  ],
  options: [
    ({ shell, plain }) => words(`-p${shell}`, `-p${plain}`),
    ({ shell, plain }) => words(`-sNp${shell}`, `-sNp${plain}`),
  ],
};
const sshpass: Program = {
  names: ['sshpass', '/usr/bin/sshpass'],
  others: [words('-v', '-v'), words("-P 'pass; word:'", '-P', 'pass; word:')],
  options: [
    ({ shell, plain }) => ({ shell: ['-p', shell], args: ['-p', plain] }),
    ({ shell, plain }) => ({ shell: ['-vp', shell], args: ['-vp', plain] }),
    ({ shell, plain }) => words(`-p${shell}`, `-p${plain}`),
  ],
};

const glue: readonly (readonly [string, string])[] = [
  ['', ''],
  ['$(', ')'],
  ['(', ')'],
  ['x=$(', ')'],
  ['x="$(', ')"'],
  ['`', '`'],
  ['@', ''],
  ['!', ''],
  ['{ ', '; }'],
  ['sudo ', ' -x'],
  ['env X=1 ', ' | sort'],
  ['cd /tmp && ', ' && ls'],
  ['cd /tmp\n', '\nls'],
  ['echo "a;b" | ', ';'],
  ["echo 'it is; so';", ' > /dev/null'],
  ['curl -u a:b https://x | ', ''],
  ['mysql -pX app; ', ''],
];
const prose: readonly (readonly [string, string])[] = [
  ["Don't forget: ", " and it's done"],
  ["the users' way: ", ', they say'],
  ['(see "the manual"): ', ''],
];
const blanks = [' ', '  ', '\t', ' \\\n  ', ' \\\r\n\t', ' \\\n'];

type Wrap = (command: string) => string;
const wraps: readonly Wrap[] = [
  (command) => command,
  (command) => `bash -c '${command.replaceAll("'", "'\\''")}'`,
  (command) => `bash -c '${command.replaceAll("'", "'\"'\"'")}'`,
  (command) => `bash -c "${command.replaceAll(/["\\$`]/g, '\\$&')}"`,
];

const someCommand = fc.constantFrom(curl, mysql, sshpass).chain(({ names, others, options }) =>
  fc.record({
    secret,
    name: fc.constantFrom(...names),
    before: fc.array(fc.constantFrom(...others), { maxLength: 3 }),
    option: fc.constantFrom(...options),
    after: fc.constantFrom('', ' host', ' https://x', ' -v "x;y"'),
    blank: fc.constantFrom(...blanks),
    written: fc.oneof(
      { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...glue), fc.constantFrom(...wraps)) },
      fc.tuple(fc.constantFrom(...prose), fc.constantFrom(...wraps.slice(0, 1))),
    ),
  }),
);

const settings = { numRuns: 1000 };

test('no password of a command survives in a text, be it shell, JSON or JSON within JSON', () => {
  fc.assert(
    fc.property(someCommand, ({ secret, name, before, option, after, blank, written: [[lead, tail], wrap] }) => {
      const all = [name, ...before.flatMap(({ shell }) => shell), ...option(secret).shell];
      const text = wrap(`${lead}${all.join(blank)}${after}${tail}`);
      for (const written of [
        text,
        JSON.stringify({ run: text }),
        JSON.stringify(JSON.stringify({ run: text, n: 1 })),
      ]) {
        const shown = redactText(written);
        for (const part of secret.halves) expect(shown).not.toContain(part);
      }
      const shown = JSON.stringify([redactArguments(['-c', text], 'sh'), redact({ steps: [{ run: text }] })]);
      for (const part of secret.halves) expect(shown).not.toContain(part);
    }),
    settings,
  );
});

test('no password of a command survives in a list of arguments, nor where that is written down', () => {
  const lead = fc.constantFrom('', 'sudo', 'env X=1', 'sudo -u bob');
  fc.assert(
    fc.property(someCommand, lead, fc.nat(3), ({ secret, name, before, option }, by, split) => {
      const program = name.replaceAll(/["']/g, '');
      const args = [...before.flatMap((other) => other.args), ...option(secret).args];
      const command = [by, program, ...(/[^\w./:=-]/.test(args.slice(0, split).join('')) ? [] : args.splice(0, split))];
      const line = command.join(' ').trim();
      const shown = JSON.stringify([
        redactArguments(args, line),
        redactArguments([...line.split(' '), ...args]),
        redact({ command: line, args }),
        redactText(JSON.stringify([...line.split(' '), ...args])),
        redactText(JSON.stringify([...line.split(' '), ...args], null, 2)),
      ]);
      for (const part of secret.halves) expect(shown).not.toContain(part);
    }),
    settings,
  );
});
