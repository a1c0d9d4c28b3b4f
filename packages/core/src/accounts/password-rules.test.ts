import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReeveError } from '../kernel/errors.ts';
import { checkNewPassword, normalisePassword } from './password-rules.ts';

const ada = { email: 'Ada.Lovelace@example.com', name: 'Ada King-Noel' };

function problemWith(password: string, about: { email?: string; name?: string } = ada): string | undefined {
  try {
    checkNewPassword(password, about);
    return undefined;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'weak_password') throw error;
    expect(error.facts).toEqual({ field: 'password' });
    return error.message;
  }
}

const tooShort = /^password: must have at least 12 characters; this one has \d+$/;
const tooLong = 'password: must have at most 256 characters';
const common = /^password: is among the first that anyone would try; /;
const ownName = /^password: must not be your email or your name/;

describe('the length of a password', () => {
  const texts: readonly (readonly [name: string, character: string])[] = [
    ['ascii', 'ky'],
    ['letters with accents', 'éü'],
    ['letters and accents apart', 'e\u0301u\u0308'],
    ['accents that no letter is composed with', 'q\u0301'],
    ['emoji', '🦊🌍'],
    ['joined emoji', '👩\u200d'],
    ['Hangul in parts', '\u1112\u1161\u11ab\u1100\u1173\u11af'],
    ['Chinese beyond the first plane', '𠮷𠀋'],
  ];

  /** A text that has `length` code points once it is composed. */
  function textOf(characters: string, length: number): string {
    const composed = Array.from(characters.normalize('NFC').repeat(length)).slice(0, length).join('');
    return characters === characters.normalize('NFC') ? composed : composed.normalize('NFD');
  }

  test.each(texts)('is counted in code points of the composed form: %s', (_, characters) => {
    expect(problemWith(textOf(characters, 11))).toBe('password: must have at least 12 characters; this one has 11');
    expect(problemWith(textOf(characters, 12))).toBeUndefined();
    expect(problemWith(textOf(characters, 256))).toBeUndefined();
    expect(problemWith(textOf(characters, 257))).toBe(tooLong);
  });

  test('is the same however accents are typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const problem = problemWith(text, {});
        expect(problemWith(text.normalize('NFC'), {})).toBe(problem);
        expect(problemWith(text.normalize('NFD'), {})).toBe(problem);
      }),
    );
  });

  test('alone decides about a text that is not common', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 3, maxLength: 300 }), (text) => {
        const odd = `≠${text}`.normalize('NFC');
        const length = Array.from(odd).length;
        const expected = length < 12 ? tooShort : length > 256 ? tooLong : undefined;
        if (typeof expected === 'object') expect(problemWith(odd, {})).toMatch(expected);
        else expect(problemWith(odd, {})).toBe(expected);
      }),
    );
  });

  test('has a largest spelling that no password of 256 characters exceeds, for any character of Unicode', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const composed = Array.from(character.normalize('NFC')).length;
      if (Array.from(character.normalize('NFD')).length > 4 * composed) expect.fail(`U+${code.toString(16)}`);
    }
    expect(normalisePassword('e\u0301'.repeat(256))).toBe('é'.repeat(256));
    expect(normalisePassword('\u03b1\u0313\u0300\u0345'.repeat(256))).toBe('\u1f82'.repeat(256));
  });

  test('is found too large before it is composed, which would take seconds for a megabyte of accents', () => {
    const accents = `a${'\u0301\u0327'.repeat(100_000)}`;
    expect(problemWith(accents)).toBe(tooLong);
    expect(normalisePassword(accents)).toBe(accents);
  });
});

test('half of a surrogate pair is refused wherever it stands', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 20 }),
      (before, half, after) => {
        expect(problemWith(before + String.fromCharCode(half) + after)).toMatch(/lone surrogate/);
      },
    ),
  );
});

describe('common passwords', () => {
  test.each([
    ...[
      'password1234',
      'passwordpassword',
      'Password123!',
      'P@$$w0rd1234',
      'Password@123',
      'mypassword123!',
      'PASSWORD2024',
    ],
    ...[
      '123456789012',
      '1234567890123',
      '098765432109',
      '000000000000',
      '111111111111',
      '121212121212',
      '123123123123',
    ],
    ...[
      'qwertyuiop12',
      'qwertyuiop123',
      'qwertyqwerty',
      'qwerty123456',
      'asdfghjkl123',
      'mnbvcxzlkjhg',
      'qwertzuiopas',
    ],
    ...['1q2w3e4r5t6y', '1qaz2wsx3edc', 'qazwsxedcrfv', 'poiuytrewq12', 'q1w2e3r4t5y6'],
    ...['000000000000', '111111111111'],
    ...[
      'administrator',
      'admin1234567',
      'adminadminadmin',
      'welcome12345',
      'letmein12345',
      'iloveyou1234',
      'changeme2025',
    ],
    ...['Summer2024!!', 'dragon123456', 'trustno1trustno1', 'reevereevereeve', 'Reeve1234567'],
  ])('are refused: %s', (password) => {
    expect(problemWith(password)).toMatch(common);
  });

  test('are refused in any capitals', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('password1234', 'qwertyuiop12', 'iloveyou1234', 'administrator'),
        fc.infiniteStream(fc.boolean()),
        (password, capitals) => {
          const shown = Array.from(password, (c) => (capitals.next().value ? c.toUpperCase() : c)).join('');
          expect(problemWith(shown)).toMatch(common);
        },
      ),
    );
  });

  test('are refused as a whole only: whatever else is in a password makes it another one', () => {
    const plain = ['password1234', '123456789012', 'qwertyuiop12', 'aaaaaaaaaaaa', 'administrator'];
    fc.assert(
      fc.property(
        fc.constantFrom(...plain),
        fc.constantFrom(...plain),
        fc.constantFrom(' ', '-', ', ', 'é', '🦊', '~x~'),
        (one, other, between) => {
          expect(problemWith(one + between + other)).toBeUndefined();
          expect(problemWith(between + one)).toBeUndefined();
        },
      ),
    );
  });

  test.each([
    ...['a-long-enough-password-1', 'Sup3r-long-passphrase!', 'owner-password-123456', 'tr0ub4dor&3-and-more'],
    ...['hunter2hunter2hunter2', 'correct-horse-battery-9', 's3cret-Passw0rd-xyz', 'Password-For-Owner-1'],
    ...[
      'test-password-123',
      'super-secret-password',
      'longenoughpassword',
      'p4ssphrase for the tests',
      'adminpassword1',
    ],
    ...[
      'f7Gk!2mQz9Lw',
      '4815162342-4815162342',
      'b3d1f0c2a4e6',
      'mein langes Kennwort',
      'пароль-длинный',
      'とても長いパスワードです',
    ],
  ])('are not: %s', (password) => {
    expect(problemWith(password)).toBeUndefined();
  });

  const words = [
    'river',
    'seven',
    'cloud',
    'password',
    'admin',
    'lamp',
    'winter',
    'qwerty',
    'abc',
    'monkey',
    'east',
    'love',
  ];

  test('are not phrases of four words or more, even of common words', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...words), { minLength: 4, maxLength: 8 }),
        fc.constantFrom(' ', '-', '.', '_'),
        (phrase, between) => {
          expect(problemWith(phrase.join(between))).toBeUndefined();
        },
      ),
    );
  });
});

describe('what everybody knows about a person', () => {
  test.each([
    'ada.lovelace@example.com',
    'ADA.LOVELACE@EXAMPLE.COM',
    'ada.lovelace',
    'Ada.LovelaceAda.Lovelace',
    'ada king-noel',
    'AdaKing-Noel',
    'Ada King-NoelAda King-Noel',
  ])('is no password: %s', (password) => {
    expect(problemWith(password)).toMatch(ownName);
  });

  test('is no password when it is short and repeated', () => {
    expect(problemWith('bobbobbobbob', { email: 'bob@example.com' })).toMatch(ownName);
    expect(problemWith('bobbobbobbob', { name: 'Bob' })).toMatch(ownName);
    expect(problemWith('bobbobbobbob', { email: 'rob@example.com', name: '' })).toBeUndefined();
  });

  test('may be part of one', () => {
    expect(problemWith('ada.lovelace and more')).toBeUndefined();
    expect(problemWith('ada.lovelace-1815')).toBeUndefined();
  });

  test('is compared in one spelling of accents', () => {
    expect(problemWith('zoe\u0308-frauenknecht', { name: 'Zoë-Frauenknecht' })).toMatch(ownName);
  });

  test('does no harm when it is missing, empty, or very long', () => {
    expect(problemWith('a-long-enough-password-1', {})).toBeUndefined();
    expect(problemWith('a-long-enough-password-1', { email: '', name: '' })).toBeUndefined();
    expect(problemWith('a-long-enough-password-1', { email: '@', name: 'a'.repeat(1_000_000) })).toBeUndefined();
  });
});

test('no refusal repeats the password', () => {
  fc.assert(
    fc.property(fc.constantFrom('password1234', 'Ada.Lovelace', 'zq9', `${'x'.repeat(256)}y`), (password) => {
      expect(problemWith(password)).not.toContain(password);
    }),
  );
});

test('normalising twice is normalising once', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(normalisePassword(normalisePassword(text))).toBe(normalisePassword(text));
      expect(normalisePassword(text.normalize('NFD'))).toBe(normalisePassword(text));
    }),
  );
});
