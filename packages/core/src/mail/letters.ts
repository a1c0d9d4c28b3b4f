import type { Role } from '../access/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Letter } from './mailer.ts';

/**
 * The token is in the fragment, which browsers never send to a server. So it stays out of access logs and referrers.
 */
export function resetLink(publicUrl: string, token: string): string {
  return pageLink(publicUrl, 'reset', token);
}

/** As `resetLink`, for the page that accepts an invite. */
export function inviteLink(publicUrl: string, token: string): string {
  return pageLink(publicUrl, 'invite', token);
}

function pageLink(publicUrl: string, page: string, token: string): string {
  return `${publicUrl.replace(/(?<!\/)\/+$/, '')}/${page}#token=${encodeURIComponent(token)}`;
}

export interface ResetDetails {
  readonly to: string;
  readonly link: string;
  readonly expiresAt: EpochMs;
}

export function resetLetter({ to, link, expiresAt }: ResetDetails): Letter {
  const content = {
    subject: 'Reset your Reeve password',
    preview: 'Choose a new password for your account.',
    heading: 'Reset your password',
    paragraphs: [`Someone asked to reset the password of ${asOneLine(to)} on ${placeOf(link)}.`],
    action: 'Choose a new password',
    link,
    validity: `The link works once, until ${inWords(expiresAt)}.`,
    unasked:
      'If this was not you, there is nothing to do: your password stays as it is. Should such letters keep coming, tell whoever runs Reeve for you.',
    place: placeOf(link),
  };
  return { to, subject: content.subject, text: writeText(content), html: writeHtml(content) };
}

export interface InviteDetails {
  readonly to: string;
  readonly link: string;
  readonly role: Role;
  /** The inviter as the letter names them; null if it was no person. */
  readonly invitedBy: string | null;
  readonly expiresAt: EpochMs;
}

export function inviteLetter({ to, link, role, invitedBy, expiresAt }: InviteDetails): Letter {
  const place = placeOf(link);
  const inviter = invitedBy === null ? '' : shortened(asOneLine(invitedBy));
  const invitation = inviter === '' ? 'You have been invited' : `${inviter} has invited you`;
  const content = {
    subject: 'You are invited to Reeve',
    preview: 'Choose a password to open your account.',
    heading: 'You are invited to Reeve',
    paragraphs: [
      `${invitation} to ${place} as ${roleInWords[role].name}.`,
      `Reeve governs software agents: what they may do, what they spend, and who can stop them. ${roleInWords[role].may}`,
    ],
    action: 'Accept the invitation',
    link,
    validity: `The link opens an account for ${asOneLine(to)}. It works once, until ${inWords(expiresAt)}.`,
    unasked:
      'If you did not expect this, you can leave it: without the link no account is made. Do not pass the letter on, as whoever has the link can open the account.',
    place,
  };
  return { to, subject: content.subject, text: writeText(content), html: writeHtml(content) };
}

const roleInWords = {
  owner: { name: 'an owner', may: 'As an owner you can do everything, and choose who else can.' },
  admin: { name: 'an admin', may: 'As an admin you can manage agents, policies, keys and people.' },
  developer: { name: 'a developer', may: 'As a developer you can follow and control agents and their operations.' },
  viewer: { name: 'a viewer', may: 'As a viewer you can follow everything and change nothing.' },
} as const satisfies Record<Role, { name: string; may: string }>;

/** The gateway's host, by which people know it. */
function placeOf(link: string): string {
  return /^https?:\/\/(?:[^/?#@]*@)?([^/?#]+)/i.exec(link)?.[1] ?? 'Reeve';
}

function inWords(at: EpochMs): string {
  const words = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  });
  return `${words.format(at)} UTC`;
}

/** A name on one line, without characters that break lines or turn the direction of writing. */
function asOneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Z}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu, ' ').trim();
}

/** At most 120 characters. */
function shortened(name: string): string {
  return name.replace(/^(.{119}).{2,}$/su, '$1…');
}

/** What a letter says, as plain text: the layout escapes it. */
export interface LetterContent {
  readonly subject: string;
  /** What a mailbox shows beside the subject. */
  readonly preview: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** The words on the button. */
  readonly action: string;
  readonly link: string;
  readonly validity: string;
  /** Advice for a reader who did not ask for the letter. */
  readonly unasked: string;
  readonly place: string;
}

const closing = 'This letter was sent automatically; nobody reads answers to it.';

export function writeText(content: LetterContent): string {
  const { heading, paragraphs, action, link, validity, unasked, place } = content;
  const parts = [heading, ...paragraphs, `${action}:`, link, validity, unasked, `-- \nReeve at ${place}\n${closing}`];
  return `${parts.map(wrap).join('\n\n')}\n`;
}

const textWidth = 76;

/** Breaks lines between words. A link has no spaces and stays whole. */
function wrap(paragraph: string): string {
  if (paragraph.includes('\n')) return paragraph;
  let text = '';
  let width = 0;
  for (const word of paragraph.split(' ')) {
    const fits = width > 0 && width + 1 + word.length <= textWidth;
    text += width === 0 ? word : `${fits ? ' ' : '\n'}${word}`;
    width = fits ? width + 1 + word.length : word.length;
  }
  return text;
}

const font = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const mono = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
const table = 'role="presentation" border="0" cellpadding="0" cellspacing="0"';

/** Colours of dark mode, for clients that know the reader's preference. Outlook marks it with `data-ogsc`. */
const dark = [
  ['.page', 'background-color:#0d1117'],
  ['.card', 'background-color:#161b22;border-color:#30363d'],
  ['.ink', 'color:#e6edf3'],
  ['.soft', 'color:#9da7b3'],
  ['.link', 'color:#58a6ff'],
  ['.rule', 'border-color:#30363d'],
  ['.button', 'background-color:#1f6feb'],
] as const;

function darkRules(prefix: string): string {
  return dark
    .map(([selector, style]) => `${prefix}${selector}{${style.replaceAll(';', ' !important;')} !important}`)
    .join('\n');
}

const style = `:root{color-scheme:light dark;supported-color-schemes:light dark}
@media (prefers-color-scheme:dark){
${darkRules('')}
}
@media (max-width:480px){
.card-cell{padding:28px 22px !important}
.frame{padding:20px 10px !important}
}
${darkRules('[data-ogsc] ')}`;

/**
 * Uses tables and inline styles: mail clients understand little else. Loads no image and nothing else from elsewhere.
 */
export function writeHtml(content: LetterContent): string {
  const link = escape(content.link);
  const paragraph = (text: string) =>
    `<p class="ink" style="margin:0 0 16px;font:16px/1.55 ${font};color:#1f2328">${escape(text)}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="x-apple-disable-message-reformatting">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<title>${escape(content.subject)}</title>
<style>
${style}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:#f3f5f8;-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden;mso-hide:all">${escape(content.preview)}${'&#847;&zwnj;&nbsp;'.repeat(40)}</div>
<table ${table} width="100%" class="page" bgcolor="#f3f5f8" style="background-color:#f3f5f8">
<tr><td align="center" class="frame" style="padding:36px 16px">
<!--[if mso]><table ${table} width="560"><tr><td><![endif]-->
<table ${table} width="100%" style="max-width:560px">
<tr><td style="padding:0 4px 16px;text-align:left">
<span class="ink" style="font:700 19px/1 ${font};letter-spacing:-.2px;color:#1f2328">Reeve</span>
</td></tr>
<tr><td class="card" bgcolor="#ffffff" style="background-color:#ffffff;border:1px solid #d8dee4;border-radius:10px">
<table ${table} width="100%">
<tr><td class="card-cell" style="padding:36px 40px;text-align:left;word-break:break-word;overflow-wrap:anywhere">
<h1 class="ink" style="margin:0 0 18px;font:600 23px/1.3 ${font};color:#1f2328">${escape(content.heading)}</h1>
${content.paragraphs.map(paragraph).join('\n')}
<table ${table} style="margin:28px 0">
<tr><td class="button" align="center" bgcolor="#0969da" style="background-color:#0969da;border-radius:7px;mso-padding-alt:13px 26px">
<a href="${link}" target="_blank" rel="noopener" style="display:inline-block;padding:13px 26px;font:600 16px/1.25 ${font};color:#ffffff;text-decoration:none;border-radius:7px">${escape(content.action)}</a>
</td></tr>
</table>
<p class="soft" style="margin:0 0 20px;font:14px/1.55 ${font};color:#57606a">${escape(content.validity)}</p>
<p class="soft" style="margin:0 0 6px;font:14px/1.55 ${font};color:#57606a">If the button does not work, open this address:</p>
<p style="margin:0;font:13px/1.6 ${mono};word-break:break-all"><a class="link" href="${link}" style="color:#0969da;text-decoration:none">${link}</a></p>
<table ${table} width="100%"><tr><td class="rule" style="padding:24px 0 0;border-bottom:1px solid #d8dee4;font-size:0;line-height:0">&nbsp;</td></tr></table>
<p class="soft" style="margin:20px 0 0;font:14px/1.55 ${font};color:#57606a">${escape(content.unasked)}</p>
</td></tr>
</table>
</td></tr>
<tr><td style="padding:18px 4px 0;text-align:left">
<p class="soft" style="margin:0;font:13px/1.55 ${font};color:#57606a">Reeve at ${escape(content.place)}<br>${escape(closing)}</p>
</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr>
</table>
</body>
</html>
`;
}

/** Writes every character beyond plain ASCII as a number, so that the part needs no transfer encoding. */
function escape(text: string): string {
  return text.replace(/[&<>"']|[^\x20-\x7e]/gu, (character) => `&#${character.codePointAt(0)};`);
}
