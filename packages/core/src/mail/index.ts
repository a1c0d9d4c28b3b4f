export { inviteLetter, inviteLink, resetLetter, resetLink } from './letters.ts';
export type { Letter, Mailer } from './mailer.ts';
export { MailError, retryAfter } from './mailer.ts';
