import { messageOf } from '../kernel/index.ts';
import { inviteLetter, inviteLink, resetLetter, resetLink, MailError, retryAfter } from '../mail/index.ts';
import type { Letter, Mailer } from '../mail/index.ts';
import type { QueuedLetter } from './account.ts';
import { noPassword } from './account.ts';
import type { AccountRows } from './account-store.ts';
import type { Accounts } from './accounts.ts';
import { lock } from './accounts.ts';
import { parseEmail, sendableToken } from './email.ts';

export interface PostOffice {
  readonly accounts: Accounts;
  readonly mailer: Mailer;
  /** The base URL of the links in letters. */
  readonly publicUrl: string;
  /** Returns a new number between 0 and 1 at each call. */
  readonly jitter: () => number;
  readonly onFailure: (failure: FailedLetter) => void;
}

export interface FailedLetter {
  readonly kind: QueuedLetter['kind'];
  readonly message: string;
  /** Milliseconds until the next try; null if there is none. */
  readonly retryInMs: number | null;
}

const mostAtOnce = 20;

/** No other gateway takes a letter for this long while it is sent. If the sender dies, the letter becomes due again. */
const sendingMs = 120_000;

/**
 * Sends the letters that are due. The queue holds no tokens: delivery makes each token, and the store keeps only its
 * hash. A letter that is retried stays in the queue and gets a new token the next time.
 */
export async function deliverMail(office: PostOffice): Promise<void> {
  const { store, access } = office.accounts;
  const due = await store.read((rows) => rows.dueLetters(access.clock.now(), mostAtOnce));
  await Promise.all(due.map((letter) => deliver(office, letter)));
}

async function deliver(office: PostOffice, queued: QueuedLetter): Promise<void> {
  const { accounts, mailer } = office;
  const letter = await accounts.store.transaction([lock.letter(queued.id)], (rows) => take(office, rows, queued));
  if (letter === undefined) return;
  const failure = await mailer.send(letter).then(
    () => undefined,
    (error: unknown) => error ?? new Error('unknown'),
  );
  const retryInMs = failure === undefined ? null : retryOf(office, queued, failure);
  await accounts.store.transaction([lock.letter(queued.id)], async (rows) => {
    if (retryInMs === null) return rows.removeLetter(queued.id);
    const dueAt = accounts.access.clock.now() + retryInMs;
    return rows.saveLetter({ ...queued, failures: queued.failures + 1, dueAt });
  });
  if (failure !== undefined) office.onFailure({ kind: queued.kind, message: messageOf(failure), retryInMs });
}

function retryOf({ accounts, jitter }: PostOffice, queued: QueuedLetter, failure: unknown): number | null {
  if (failure instanceof MailError && !failure.temporary) return null;
  const ageMs = accounts.access.clock.now() - queued.createdAt;
  return retryAfter({ failures: queued.failures + 1, ageMs, jitter: jitter() });
}

/** Claims a letter that is still due, and writes it. Drops a letter that has no recipient any more. */
async function take(office: PostOffice, rows: AccountRows, queued: QueuedLetter): Promise<Letter | undefined> {
  const current = await rows.letter(queued.id);
  if (current?.dueAt !== queued.dueAt) return undefined;
  const letter = queued.kind === 'invite' ? await invitation(office, rows, queued) : await reset(office, rows, queued);
  if (letter === undefined) await rows.removeLetter(queued.id);
  else await rows.saveLetter({ ...current, dueAt: office.accounts.access.clock.now() + sendingMs });
  return letter;
}

async function invitation(office: PostOffice, rows: AccountRows, queued: QueuedLetter): Promise<Letter | undefined> {
  const { accounts, publicUrl } = office;
  const invite = await rows.invite(queued.subjectId);
  if (invite === undefined || invite.expiresAt <= accounts.access.clock.now()) return undefined;
  const { id, email, role, expiresAt } = invite;
  // Names only a person. The label of an API key would tell the invited person nothing.
  const invitedBy = parseEmail(invite.invitedBy) === undefined ? null : invite.invitedBy;
  const token = await sendableToken(accounts, rows, { purpose: 'invite', subjectId: id, expiresAt });
  return inviteLetter({ to: email, link: inviteLink(publicUrl, token), role, invitedBy, expiresAt });
}

async function reset(office: PostOffice, rows: AccountRows, queued: QueuedLetter): Promise<Letter | undefined> {
  const { accounts, publicUrl } = office;
  const account = await rows.account(queued.subjectId);
  if (account?.status !== 'active' || account.passwordHash === noPassword) return undefined;
  const expiresAt = accounts.access.clock.now() + accounts.settings.resetTtlMs;
  const token = await sendableToken(accounts, rows, { purpose: 'reset', subjectId: account.id, expiresAt });
  return resetLetter({ to: account.email, link: resetLink(publicUrl, token), expiresAt });
}
