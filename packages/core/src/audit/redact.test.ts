import { expectProportional } from '../testkit/cpu-time.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from './canonical-json.ts';
import { mayHoldSecret, mayNeedRedaction, redact, redactArguments, redactText, secretForms } from './redact.ts';
import { redacted } from './secret-options.ts';
import { charset, recognisedSecrets, someSecret } from '../testkit/secrets.ts';

const surroundings: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `use ${secret} please`,
  (secret) => `"${secret}"`,
  (secret) => `'${secret}',`,
  (secret) => `(${secret})`,
  (secret) => `https://example.com/?x=${secret}&y=1`,
  (secret) => `X=${secret};`,
  (secret) => `first\n${secret}\nlast`,
  (secret) => `{"note":"${secret}"}`,
];

describe.each(Object.entries(recognisedSecrets))('%s', (_, form) => {
  test('is recognised by its form, wherever it stands', () => {
    fc.assert(
      fc.property(form, fc.constantFrom(...surroundings), (secret, around) => {
        const text = redactText(around(secret));
        expect(text).not.toContain(secret);
        expect(text).toContain(redacted);
      }),
      { numRuns: 60 },
    );
  });
});

/** Ways to write a secret that only its name gives away. */
const announcements: readonly (readonly [string, (secret: string) => string])[] = [
  ['a bearer header', (s) => `Authorization: Bearer ${s}`],
  ['a bearer header in a quoted argument', (s) => `curl -H "Authorization: Bearer ${s}" https://example.com`],
  ['a basic header', (s) => `authorization: Basic ${s}`],
  ['a header with a scheme of its own', (s) => `Authorization: Custom ${s}`],
  ['a bare header', (s) => `Proxy-Authorization: ${s}`],
  ['a header in JSON', (s) => `{"Authorization": "Bearer ${s}"}`],
  ['a cookie', (s) => `Cookie: theme=dark; sid=${s}`],
  ['a bearer token by itself', (s) => `Bearer ${s}`],
  ['an assignment', (s) => `password=${s}`],
  ['an assignment with spaces', (s) => `password = ${s}`],
  ['an environment variable', (s) => `export DB_PASSWORD=${s} && run`],
  ['YAML', (s) => `user: me\npassword: ${s}\nport: 5432`],
  ['JSON', (s) => `{"user":"me","password":"${s}"}`],
  ['JSON within JSON', (s) => JSON.stringify(JSON.stringify({ user: 'me', password: s }))],
  ['JSON within JSON within JSON', (s) => JSON.stringify(JSON.stringify(JSON.stringify({ password: s })))],
  ['a Python dictionary', (s) => `{'user': 'me', 'passwd': '${s}'}`],
  ['a connection string', (s) => `Server=db;Password=${s};Port=1`],
  ['a query', (s) => `https://example.com/login?user=me&token=${s}&x=1`],
  ['a long option', (s) => `mysql --password ${s} --host db`],
  ['a long option with an equals sign', (s) => `mysql --password=${s}`],
  ['a quoted long option', (s) => `mysql --password '${s}'`],
  ['an option of one dash', (s) => `keytool -passphrase ${s}`],
  ['an option with a prefix', (s) => `aws --aws-secret-key ${s}`],
  ['an access token', (s) => `access_token: ${s}`],
  ['an API key', (s) => `api_key=${s}`],
  ['an API key with a dash', (s) => `X-Api-Key: ${s}`],
  ['an API key in one word', (s) => `apikey=${s}`],
  ['a secret key', (s) => `secret_key=${s}`],
  ['an AWS secret', (s) => `AWS_SECRET_ACCESS_KEY=${s}`],
  ['a client secret', (s) => `client_secret=${s}`],
  [
    'an Azure connection string',
    (s) => `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${s}==;EndpointSuffix=x`,
  ],
  ['a shared access key', (s) => `Endpoint=sb://x/;SharedAccessKeyName=n;SharedAccessKey=${s}=`],
  ['a shared access signature', (s) => `https://a.blob.core.windows.net/c/f?sv=2022-11-02&se=2030&sig=${s}%3D&sp=r`],
  ['a Slack hook', (s) => `post to https://hooks.slack.com/services/T00/B00/${s} please`],
  ['a Slack hook without its scheme', (s) => `post to hooks.slack.com/services/T00/B00/${s} please`],
  ['a Slack hook of a government', (s) => `HOOKS.SLACK-GOV.COM/workflows/T00/${s}`],
  ['a Slack trigger', (s) => `https://hooks.slack.com/triggers/T00/1/${s}`],
  ['curl -u', (s) => `curl -u me:${s} https://example.com`],
  ['curl -u with a quote', (s) => `curl -s -u "me:${s} x" https://example.com`],
  ['curl -u with a quote of the other kind', (s) => `curl -u 'me:${s}' https://example.com`],
  ['curl -u, attached', (s) => `/usr/bin/curl -ume:${s} https://example.com`],
  ['curl -u behind other letters', (s) => `curl -fsSu me:${s} https://example.com`],
  ['curl --user', (s) => `curl https://example.com --user me:${s}`],
  ['curl --user=', (s) => `curl --user="me:${s}" https://example.com`],
  ['curl --proxy-user', (s) => `curl --proxy-user me:${s} https://example.com`],
  ['curl in another command', (s) => `sh -c "cd /tmp && curl -u me:${s} https://example.com"`],
  ['curl in JSON in a text', (s) => JSON.stringify({ run: `curl -u "me:${s}" https://example.com` })],
  ['curl after a pipe', (s) => `echo x | curl -d @- -u me:${s} https://example.com`],
  ['mysql -p', (s) => `mysql -h db -u root -p${s} app`],
  ['mysqldump -p with a quote', (s) => `mysqldump -uroot -p'${s}' app`],
  ['mariadb -p', (s) => `mariadb -p${s}`],
  ['sshpass -p', (s) => `sshpass -p ${s} ssh me@host`],
  ['sshpass -p, attached', (s) => `sudo sshpass -p${s} scp a b:`],
  ['sshpass -p with a quote', (s) => `sshpass -p '${s} and more' ssh me@host`],
  ['a URL with a password', (s) => `postgres://me:${s}@db.example.com/app`],
  ['a URL with a password and no user', (s) => `redis://:${s}@cache:6379/0`],
];

describe.each(announcements)('a secret in %s', (_, write) => {
  test('is recognised by what stands before it', () => {
    fc.assert(
      fc.property(charset('abcXYZ019-_.', 8, 24), (tail) => {
        // The secret has no known form that gives it away.
        const secret = `Q7${tail}`;
        const text = redactText(write(secret));
        expect(text).not.toContain(secret.slice(0, 6));
        expect(text).not.toContain(secret.slice(-6));
        expect(text).toContain(redacted);
      }),
      { numRuns: 40 },
    );
  });
});

describe.each(secretForms)('a secret that $telling tells of', ({ form, telling }) => {
  const announced = fc
    .tuple(fc.constantFrom(...announcements), charset('abcXYZ019-_.', 8, 24))
    .map(([[, write], tail]) => write(`Q7${tail}`));

  test('has the words in it that the cheap checks look for, whatever stands around it', () => {
    let seen = 0;
    fc.assert(
      fc.property(fc.oneof(someSecret, announced), (text) => {
        for (const [found] of text.matchAll(form)) {
          seen++;
          expect(found).toMatch(new RegExp(telling, 'i'));
          expect(mayHoldSecret.test(found)).toBe(true);
          expect(mayNeedRedaction(found)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
    expect(seen).toBeGreaterThan(0);
  });
});

test.each([
  ['spaces', 'password="correct horse battery"', 'horse'],
  ['the other quote', `password="it's mine"`, 'mine'],
  ['an escaped quote', 'password="ab\\"cdef"', 'cdef'],
  ['a quote that is never closed', `password="correct horse`, 'horse'],
  ['an at sign', 'password=p@ssw0rd', 'ssw0rd'],
  ['an at sign in a URL', 'https://me:p@ss@example.com/', 'ss@example'],
  ['a colon in a URL', 'https://me:p:q@example.com/', ':q@'],
])('a secret with %s is replaced whole', (_, text, rest) => {
  expect(redactText(text)).toContain(redacted);
  expect(redactText(text)).not.toContain(rest);
});

test('what surrounds a secret stays readable', () => {
  expect(redactText('mysql --password hunter22 --host db')).toBe(`mysql --password ${redacted} --host db`);
  expect(redactText('{"user":"me","password":"hunter22"}')).toBe(`{"user":"me","password":"${redacted}"}`);
  expect(redactText('postgres://me:hunter22@db/app')).toBe(`postgres://me:${redacted}@db/app`);
  expect(redactText('Server=db;Password=hunter22;Port=1')).toBe(`Server=db;Password=${redacted};Port=1`);
  expect(redactText('?token=abc&x=1')).toBe(`?token=${redacted}&x=1`);
});

test('redacting twice changes nothing more', () => {
  fc.assert(
    fc.property(fc.constantFrom(...announcements), charset('abcXYZ019', 8, 20), ([, write], secret) => {
      const once = redactText(write(secret));
      expect(redactText(once)).toBe(once);
    }),
  );
});

describe('innocent text', () => {
  test.each([
    'monkey',
    'keyboard: qwerty',
    'https://example.com/a?b=c',
    'http://localhost:8080/health',
    'https://example.com:8443/users/@me?at=a@b.c',
    'git@github.com:acme/app.git',
    'ssh://git@github.com/acme/app.git',
    'tokens: 12',
    'max_tokens=4096',
    '{"prompt_tokens": 812, "completion_tokens": 9}',
    'the basic idea',
    'Basic plan, monthly',
    'a bearer of news',
    'compass: north',
    'bypass=true',
    'passport control',
    'forgot your password?',
    'reset the password of the account',
    'token ring',
    'secretary: Ann',
    'author: Bob',
    'authority=none',
    'a task-list-of-things-to-do',
    'disk-usage-report-for-all-hosts',
    'risk-assessment-2024-final-version',
    '--token-limit 5 --pass-through yes',
    '3f2a9c0d1e4b5a69788796a5b4c3d2e1f0a1b2c3',
    '123e4567-e89b-12d3-a456-426614174000',
    'SELECT * FROM keys WHERE id = 7',
    'curl -o u:p https://example.com/a:b',
    'curl -u me https://example.com',
    'curl -X PUT --url https://example.com:8080/x',
    'mysql -u root -p app',
    'mysql --port 3306',
    'sshpass -f file ssh host',
    'ssh -p 22 host',
    'sort -u a:b',
    'msg.something-quite-long-here',
    'config=1&design=2',
    'the account key is on the table',
    'https://hooks.slack.com/',
    'half_done_and_something_else',
    'eyJ',
    'sk-',
    '',
  ])('%j is left as it is', (text) => {
    expect(redactText(text)).toBe(text);
  });

  test.each([
    { keyboard: 'qwerty' },
    { monkey: 'George' },
    { max_tokens: 4096, promptTokens: 12 },
    { author: 'Bob', authority: 'none' },
    { compass: 'north', passenger: 'Ann', spinner: 'x' },
    { password: null },
    { a: [1, true, null, 'text', { b: 'c' }] },
  ])('%j is left as it is', (value) => {
    expect(redact(value)).toEqual(value);
  });

  test('is left as it is whatever the words, where none of them announces anything', () => {
    const word = fc.constantFrom('the', 'quick', 'fox', 'key', 'lock', 'pass', '42', 'a.b', 'x=1', '/etc/hosts', 'to:');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = words.join(' ');
        expect(redactText(text)).toBe(text);
      }),
    );
  });
});

describe('under a member name that tells', () => {
  test.each([
    'password',
    'Password',
    'DB_PASSWORD',
    'newPassword',
    'newpassword',
    'password2',
    'passwd',
    'pwd',
    'pass',
    'passphrase',
    'secret',
    'clientSecret',
    'client_secret',
    'secret_key',
    'secretKey',
    'token',
    'accessToken',
    'access_token',
    'authtoken',
    'refresh-token',
    'api_key',
    'apiKey',
    'apikey',
    'APIKey',
    'x-api-key',
    'access_key',
    'private_key',
    'authorization',
    'Authorization',
    'auth',
    'cookie',
    'set-cookie',
    'credentials',
    'session_id',
    'sessionId',
    'pin',
    'cvv',
    'otp',
    'spring.datasource.password',
    'tokens',
  ])('%s, any value is replaced whole', (name) => {
    for (const value of ['hunter2', ['hunter2'], { deep: { er: 'hunter2' } }]) {
      expect(redact({ [name]: value, other: 'stays' })).toEqual({ [name]: redacted, other: 'stays' });
    }
    expect(redact({ list: [{ [name]: 'hunter2' }] })).toEqual({ list: [{ [name]: redacted }] });
  });

  test.each(['pin', 'otp', 'cvv', 'passcode', 'password'])('%s, a number is a secret, too', (name) => {
    expect(redact({ [name]: 1234 })).toEqual({ [name]: redacted });
  });

  test('a secret that is itself a member name is replaced, too', () => {
    fc.assert(
      fc.property(someSecret, (secret) => {
        expect(JSON.stringify(redact({ [secret]: 1 }))).not.toContain(secret);
      }),
      { numRuns: 50 },
    );
  });

  test('odd member names neither vanish nor reach a prototype', () => {
    const value = JSON.parse('{"__proto__":{"password":"hunter2"},"constructor":"x"}') as Record<string, string>;
    expect(JSON.stringify(redact(value))).toBe(`{"__proto__":{"password":"${redacted}"},"constructor":"x"}`);
  });
});

describe('a document that is found not to need redaction', () => {
  const telling = [
    'newPassword',
    'PIN',
    'cvv2',
    'otp',
    'session-id',
    'SESSIONID',
    'x_auth',
    'Cookie',
    'apikey',
    'pwd',
    'secret_key',
    'command',
    'cmd',
  ];
  const name = fc.oneof(fc.constantFrom(...telling, 'name', 'spin', 'a', ''), fc.string({ maxLength: 6 }), someSecret);
  const leaf = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.integer(),
    fc.constant(null),
    someSecret,
    fc.constantFrom('Bearer abc12345678', 'a:b@c', '://u:p@h'),
    fc.constantFrom('curl', 'env curl', '-u', '-u a:b', 'a:b', 'mysql', 'MARIADB', '-px', 'sshpass', '-p', 'x'),
  );
  const someJson = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 3 }),
    ),
  })).json;

  test('has nothing to redact', () => {
    fc.assert(
      fc.property(someJson, (value) => {
        const text = JSON.stringify(value);
        if (!mayNeedRedaction(text)) expect(JSON.stringify(redact(JSON.parse(text) as Json))).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test('though its names are written with escapes', () => {
    const text = '{"\\u0070assword":"hunter2"}';
    expect(JSON.parse(text)).toEqual({ password: 'hunter2' });
    expect(mayNeedRedaction(text)).toBe(true);
  });
});

describe('the arguments of a command', () => {
  test.each([
    [
      ['--password', 'hunter2', '--host', 'db'],
      ['--password', redacted, '--host', 'db'],
    ],
    [
      ['--password=hunter2', 'x'],
      [`--password=${redacted}`, 'x'],
    ],
    [
      ['--db-password', 'hun ter2'],
      ['--db-password', redacted],
    ],
    [
      ['-token', 'abc'],
      ['-token', redacted],
    ],
    [
      ['--api-key', 'abc', '--api_key', 'def', '--apikey', 'ghi'],
      ['--api-key', redacted, '--api_key', redacted, '--apikey', redacted],
    ],
    [
      ['--secret-key', 'abc', '--access-key', 'abc'],
      ['--secret-key', redacted, '--access-key', redacted],
    ],
    [
      ['-H', 'Authorization: Bearer abc.def'],
      ['-H', `Authorization: ${redacted}`],
    ],
    [
      ['password=abc', 'next'],
      [`password=${redacted}`, 'next'],
    ],
    [
      ['--verbose', 'password', 'x'],
      ['--verbose', 'password', 'x'],
    ],
    [
      ['--token-limit', '5'],
      ['--token-limit', '5'],
    ],
    [
      ['sshpass', '-p', 'hunter2', 'ssh', '-p', '22', 'host'],
      ['sshpass', '-p', redacted, 'ssh', '-p', '22', 'host'],
    ],
    [
      ['/usr/bin/curl', '-su', 'me:hunter2', 'https://example.com'],
      ['/usr/bin/curl', '-su', `me:${redacted}`, 'https://example.com'],
    ],
    [
      ['curl', '--user', 'me:hun ter;2'],
      ['curl', '--user', `me:${redacted}`],
    ],
    [
      ['mysql', '-phunter2', '-p', 'app'],
      ['mysql', `-p${redacted}`, '-p', 'app'],
    ],
    [
      ['-c', 'curl -u me:hunter2 https://example.com'],
      ['-c', `curl -u me:${redacted} https://example.com`],
    ],
    [
      ['-u', 'me:hunter2'],
      ['-u', 'me:hunter2'],
    ],
    [[], []],
  ])('%j', (args, expected) => {
    expect(redactArguments(args)).toEqual(expected);
  });
});

test('options are those of the command, which may stand apart', () => {
  expect(redactArguments(['-u', 'me:hunter2'], 'curl')).toEqual(['-u', `me:${redacted}`]);
  expect(redactArguments(['-p', 'hunter2', 'ssh', '-p', '22'], '/usr/bin/sshpass')).toEqual([
    '-p',
    redacted,
    'ssh',
    '-p',
    '22',
  ]);
  expect(redactArguments(['-uroot', '-phunter2'], 'mysqldump')).toEqual(['-uroot', `-p${redacted}`]);
  expect(redact({ command: 'curl', args: ['-u', 'me:hunter2'] })).toEqual({
    command: 'curl',
    args: ['-u', `me:${redacted}`],
  });
  expect(redact({ argv: ['sshpass', '-p', 'hunter2'], env: { sig: 'x' } })).toEqual({
    argv: ['sshpass', '-p', redacted],
    env: { sig: redacted },
  });
});

describe('a long adversarial text', () => {
  const seeds = [
    'a',
    '-',
    '_',
    ' ',
    ':',
    '"',
    '\\',
    '\\"',
    '=',
    '.',
    'A ',
    'eyJ',
    '-eyJ',
    '_eyJ',
    'eyJaaaaaaaa.',
    'eyJaaaaaaaa.b',
    '.eyJ',
    'sk-',
    'task-',
    'rvk_',
    'ghp_',
    'xoxb-',
    'AKIA',
    'AIza',
    'npm_',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN A',
    '-----END A',
    'PRIVATE KEY',
    'password',
    'password ',
    'password=',
    'password="',
    "password='",
    'password\\"',
    'password: ',
    'pass',
    'token"',
    'secret\\',
    'bearer ',
    'bearer  ',
    'basic ',
    'basic a',
    'authorization: ',
    'authorization ',
    'cookie:',
    '--password ',
    '--password',
    '-token-',
    '--a-',
    '://',
    '://a',
    '://a:',
    '://a:b',
    '://:@',
    '@',
    'a@',
    'tokens=1',
    'api-key',
    'api_key=',
    'curl ',
    'curl -u ',
    'curl -u "',
    "curl -u '",
    'curl -u \\"',
    'curl -u a:',
    'curl/',
    'mysql -p',
    'mysql -p"',
    'sshpass -p ',
    '-u ',
    '-----BEGIN PGP PRIVATE KEY BLOCK-----',
    'SG.',
    'SG.aaaaaaaaaaaaaaaa.',
    'ya29.',
    'hf_',
    'rvi_',
    'sig=',
    'hooks.slack.com/services/',
    'AccountKey=',
    'ya29.a.',
    "'",
    '`',
    '(',
    '$(',
    ')',
    ';',
    '&',
    ',\n',
    '\\\n',
    '\\n',
    '\r',
    "\\'",
    "'\"'\"'",
    "'\\''",
    "don't ",
    "users' ",
    '"(',
    '`(',
    '\\"(',
    'curl -u $(',
    'curl -u (',
    'curl -u `(',
    'curl -u "(',
    'curl -u a:b;',
    'curl;-u;',
    'curl\\t-u\\tx;',
    'curl\\t-u\\ta:b;',
    'mysql\\t-px;',
    'sshpass\\t-p\\tx;',
    'curl "-u" ',
    'curl "-u", ',
    'curl "-ux',
    '"-u",',
    '-u\\',
    'curl -u \\\n',
    'curl -u a:b\\\n',
    'curl -u a:"b"',
    "mysql -p'a'",
    'mysql -p$(',
    'sshpass -p x ',
    'sshpass(-px ',
    '@curl',
    'curl -sS',
    '-ssss',
  ];

  test('of ever more backslashes before a quote takes time in proportion to its length, too', () => {
    const quotes = (count: number): string =>
      Array.from({ length: count }, (_, at) => `curl -u ${'\\'.repeat(at)}"`).join('x ');
    // The length grows with the square of the count.
    expectProportional((text) => redactText(text), quotes(140), quotes(280));
  });

  test.each(seeds)('%j over and over takes time in proportion to its length', (seed) => {
    for (const lead of [
      '',
      '-----BEGIN PRIVATE KEY',
      'password=',
      'eyJ',
      '://',
      'x ',
      'curl -u ',
      'curl "(',
      'mysql -p',
      "sshpass '",
    ]) {
      const small = lead + seed.repeat(Math.ceil(10_000 / seed.length));
      const large = lead + seed.repeat(Math.ceil(40_000 / seed.length));
      expectProportional((text) => redactText(text), small, large);
    }
  });

  test.each(['_', '-', 'a', 'aB', 'a_', 'pass', 'token', 'secret_', 's'])('%j as a member name, too', (seed) => {
    const small = seed.repeat(Math.ceil(10_000 / seed.length));
    const large = seed.repeat(Math.ceil(40_000 / seed.length));
    expectProportional((name) => redact({ [name]: 'x' }), small, large);
  });
});
