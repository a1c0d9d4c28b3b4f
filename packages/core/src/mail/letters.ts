import type { Role } from '../access/scope.ts';
import type { EpochMs } from '../kernel/clock.ts';
import { writeHtml, writeText } from './letter-layout.ts';
import type { Letter } from './mailer.ts';

/** The token is in the fragment, which browsers send to no server: it stays out of access logs and referrers. */
export function resetLink(publicUrl: string, token: string): string {
  return pageLink(publicUrl, 'reset', token);
}

/** As `resetLink`, for the page that accepts an invite. */
export function inviteLink(publicUrl: string, token: string): string {
  return pageLink(publicUrl, 'invite', token);
}

function pageLink(publicUrl: string, page: string, token: string): string {
  return `${publicUrl.replace(/\/+$/, '')}/${page}#token=${encodeURIComponent(token)}`;
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
  /** Who invites, as the letter names them; null where it was no person. */
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

/** The gateway that the letter is about, as people know it. */
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

/** What people call themselves, kept from breaking lines, or from turning the direction of writing. */
function asOneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Z}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu, ' ').trim();
}

/** At most 120 characters. */
function shortened(name: string): string {
  return name.replace(/^(.{119}).{2,}$/su, '$1…');
}
