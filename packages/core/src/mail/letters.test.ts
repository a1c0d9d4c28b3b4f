import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roles } from '../access/principal.ts';
import { inviteLetter, inviteLink, resetLetter, resetLink } from './letters.ts';
import type { Letter } from './mailer.ts';

const token = 'q3Zr8sVxX0JmN5tLkP2wYbC7dHfGaE9uTiOoRe1SnM4';
const expiresAt = Date.UTC(2026, 10, 5, 9, 3);
const reset = resetLetter({ to: 'ada@example.com', link: resetLink('https://reeve.example.com', token), expiresAt });

function invite(changes: Partial<Parameters<typeof inviteLetter>[0]> = {}): Letter {
  const link = inviteLink('https://reeve.example.com', token);
  const details = { to: 'grace@example.com', link, role: 'developer' as const, invitedBy: 'Ada Lovelace', expiresAt };
  return inviteLetter({ ...details, ...changes });
}

/** What a reader sees of an HTML part: without tags, with references resolved. */
function shown(html: string): string {
  return html
    .replace(/^[^]*<body/, '<body')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}

describe('a link', () => {
  test('has the page in its path and the token in its fragment', () => {
    expect(resetLink('https://reeve.example.com', token)).toBe(`https://reeve.example.com/reset#token=${token}`);
    expect(inviteLink('https://reeve.example.com', token)).toBe(`https://reeve.example.com/invite#token=${token}`);
  });

  test('bears a public URL with a slash at its end, or with a path', () => {
    expect(resetLink('http://127.0.0.1:8080/', 't')).toBe('http://127.0.0.1:8080/reset#token=t');
    expect(inviteLink('https://example.com/reeve//', 't')).toBe('https://example.com/reeve/invite#token=t');
  });

  test('holds the token and nothing but it, whatever its characters', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })), (any) => {
        const { pathname, search, hash } = new URL(resetLink('https://reeve.example.com', any));
        expect([pathname, search]).toEqual(['/reset', '']);
        expect([...new URLSearchParams(hash.slice(1))]).toEqual([['token', any]]);
      }),
    );
  });
});

describe('both parts of a letter', () => {
  test.each([
    ['a reset', reset, 'reset'],
    ['an invite', invite(), 'invite'],
  ])(
    'of %s hold the link whole, say until when it works, where it leads and what to do otherwise',
    (_, letter, page) => {
      const link = `https://reeve.example.com/${page}#token=${token}`;
      expect(letter.text.split('\n')).toContain(link);
      expect([...letter.html.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toEqual([link, link]);
      expect(shown(letter.html)).toContain(link);
      for (const part of [letter.text.replaceAll('\n', ' '), shown(letter.html)]) {
        expect(part).toContain('works once, until 5 November 2026 at 09:03 UTC');
        expect(part).toContain('reeve.example.com');
        expect(part).toMatch(/If (this was not you|you did not expect this), /);
      }
    },
  );

  test('name the account, the inviter and the role', () => {
    for (const part of [reset.text, shown(reset.html)]) expect(part).toContain('ada@example.com');
    for (const role of roles) {
      const letter = invite({ role });
      for (const part of [letter.text.replaceAll('\n', ' '), shown(letter.html)]) {
        expect(part).toMatch(new RegExp(`Ada Lovelace has invited you to reeve.example.com as an? ${role}`));
        expect(part).toContain('grace@example.com');
      }
    }
    expect(invite({ invitedBy: null }).text).toContain('You have been invited to reeve.example.com as a developer');
    expect(invite({ invitedBy: ' \n' }).text).toContain('You have been invited to reeve.example.com as a developer');
  });

  test('fit the width of a terminal, but for the link', () => {
    const lines = `${reset.text}${invite().text}`.split('\n').filter((line) => !line.includes('#token='));
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(76);
  });
});

describe('what somebody typed', () => {
  const typed = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('<script>', '"><img src=x>', "a'b", '&lt;'));

  test('is escaped in HTML and shown as it is', () => {
    const letter = invite({ invitedBy: `<b onclick="x">Zoë & 'Li' 林</b>` });
    expect(letter.html).not.toContain('<b ');
    expect(shown(letter.html)).toContain(`<b onclick="x">Zoë & 'Li' 林</b> has invited you`);
  });

  test('never adds a tag or an attribute to the HTML', () => {
    const tags = (html: string) => html.match(/<[^>]*>/g);
    const plain = tags(invite().html);
    fc.assert(
      fc.property(typed, (invitedBy) => {
        expect(tags(invite({ invitedBy }).html)).toEqual(plain);
      }),
    );
    fc.assert(
      fc.property(typed, (to) => {
        expect(tags(invite({ to }).html)).toEqual(plain);
      }),
    );
  });

  test('never adds a line to the text, nor turns the direction of what follows', () => {
    const letter = invite({ invitedBy: 'Ada\r\n\r\nhttps://evil.example/\u2028\u202eecivda' });
    expect(letter.text).toContain('Ada https://evil.example/ ecivda has invited you');
    expect(letter.text).not.toMatch(/[\r\u2028\u202e]/);
  });

  test('is cut where it would fill the letter', () => {
    expect(invite({ invitedBy: 'Ada'.repeat(1000) }).text.length).toBeLessThan(1200);
  });

  test('is in no subject', () => {
    fc.assert(
      fc.property(typed, (invitedBy) => {
        expect(invite({ invitedBy }).subject).toBe(invite().subject);
      }),
    );
  });
});

describe('the HTML part', () => {
  test('loads nothing from anywhere', () => {
    for (const { html } of [reset, invite()]) {
      expect(html).not.toMatch(/<(img|script|link|iframe|object|video|audio|form)\b|url\(|@import|\bsrc=|background=/i);
    }
  });

  test('is plain ASCII in lines short enough to travel as they are', () => {
    for (const { html } of [reset, invite({ invitedBy: 'Zoë 林' })]) {
      expect(html).toMatch(/^[\n\x20-\x7e]*$/);
      for (const line of html.split('\n')) expect(line.length).toBeLessThan(998);
    }
  });

  test('has a form for readers who prefer dark', () => {
    expect(reset.html).toContain('<meta name="color-scheme" content="light dark">');
    const [, dark = ''] = /@media \(prefers-color-scheme:dark\)\{([^@]*)\}/.exec(reset.html) ?? [];
    const styled = new Set([...dark.matchAll(/^\.([a-z]+)\{/gm)].map((match) => match[1]));
    const coloured = [...reset.html.matchAll(/class="([a-z]+)"[^>]*color/g)].map((match) => match[1]);
    expect(coloured.length).toBeGreaterThan(5);
    for (const name of coloured) expect(styled).toContain(name);
  });
});
