import { system } from '../audit/index.ts';
import type { Ports } from '../kernel/index.ts';
import type { Account } from './account.ts';
import { noPassword } from './account.ts';
import type { AccountStore } from './account-store.ts';
import { lock } from './accounts.ts';
import { queueEntry } from './change-accounts.ts';
import { requireEmail } from './email.ts';

/** What making an owner needs: no gateway, and no log. */
export interface OwnerPorts extends Pick<Ports, 'clock' | 'randomness' | 'sha256'> {
  readonly store: AccountStore;
  /** How long the token for a password lasts. */
  readonly resetTtlMs: number;
}

export interface MadeOwner {
  readonly account: Account;
  readonly isNew: boolean;
  /** Sets a password, once. */
  readonly token: string;
  readonly expiresAt: number;
}

const from = { address: '', userAgent: '', requestId: '' };

/**
 * Makes the account of an email an active owner of the whole gateway, or makes a new one. It is for the machine of the
 * gateway alone, so it asks nobody. A password, session or single sign-on from before does not open the account any
 * more: whoever had it was no owner. Gateways record what this owes to the log.
 */
export async function createOwner(ports: OwnerPorts, given: string): Promise<MadeOwner> {
  const email = requireEmail(given);
  const { store, clock, randomness, sha256 } = ports;
  const before = await store.read((rows) => rows.accountByEmail(email.key));
  const locks = [lock.firstAccount, lock.owners, lock.email(sha256(`email:${email.key}`))];
  if (before !== undefined) locks.push(lock.account(before.id));
  return store.transaction(locks, async (rows) => {
    const now = clock.now();
    const known = await rows.accountByEmail(email.key);
    const blank: Account = {
      id: `acc_${randomness.hex(12)}`,
      email: email.text,
      emailKey: email.key,
      name: '',
      role: 'owner',
      status: 'active',
      orgId: null,
      teamId: null,
      passwordHash: noPassword,
      createdAt: now,
      lastLoginAt: null,
    };
    const { name, id, createdAt, lastLoginAt } = known ?? blank;
    const account: Account = { ...blank, id, name, createdAt, lastLoginAt };
    await rows.saveAccount(account);
    await rows.endSessions(account.id, now);
    await rows.removeIdentities(account.id);
    const token = `rvp_${randomness.base64url(32)}`;
    const expiresAt = now + ports.resetTtlMs;
    await rows.removeSentTokens('reset', account.id);
    await rows.saveSentToken({ hash: sha256(token), purpose: 'reset', subjectId: account.id, expiresAt });
    const details = { account_id: account.id, email: account.email, role: account.role, status: account.status };
    const was = known === undefined ? {} : { was: { role: known.role, status: known.status } };
    const eventType = known === undefined ? 'AccountRegistered' : 'AccountChanged';
    const by = { actor: system, from, reason: 'reeve accounts create-owner' };
    await queueEntry(ports, rows, eventType, by, { ...details, ...was });
    return { account, isNew: known === undefined, token, expiresAt };
  });
}
