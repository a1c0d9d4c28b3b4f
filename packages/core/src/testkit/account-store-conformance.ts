import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Binding } from '../access/authority.ts';
import type { AccountRows, AccountStore } from '../accounts/account-store.ts';
import {
  sampleAccount,
  sampleAttempts,
  sampleIdentity,
  sampleInvite,
  sampleLetter,
  sampleOutboxEntry,
  sampleRefreshToken,
  sampleSentToken,
  sampleSession,
  someAccount,
  someAttempts,
  someIdentity,
  someInvite,
  someLetter,
  someOutboxEntry,
  someRefreshToken,
  someSentToken,
  someSession,
} from './account-samples.ts';

const everywhere: Binding = { orgId: null, teamId: null };

export interface OpenAccountStore {
  readonly store: AccountStore;
  /** Commits to the log's store, without an entry, that an owed entry is recorded. */
  recordOwed(id: string): Promise<void>;
  close(): Promise<void>;
}

/** Where a store of accounts keeps its data during one test. */
export interface AccountStorePlace {
  /** Opens the store. If it is durable, opening it again finds what was left. */
  open(): Promise<OpenAccountStore>;
  dispose(): Promise<void>;
}

export interface AccountStoreTraits {
  /** Why nothing outlives the store. A durable store leaves it out. */
  readonly forgetsBecause?: string;
  /** Why transactions wait for each other even if they share no lock. Absent if they do not. */
  readonly oneByOneBecause?: string;
  /** Why no second gateway can open the same place. Absent if one can. */
  readonly oneGatewayBecause?: string;
}

/** What every store of accounts must do. Each adapter runs it beside its own tests. */
export function accountStoreConformance(
  name: string,
  makePlace: () => Promise<AccountStorePlace>,
  traits: AccountStoreTraits = {},
): void {
  describe(`${name} as a store of accounts`, () => {
    let place: AccountStorePlace;
    let opened: OpenAccountStore;
    let store: AccountStore;
    const open = async () => {
      opened = await place.open();
      ({ store } = opened);
    };
    beforeEach(async () => {
      place = await makePlace();
      await open();
    });
    afterEach(async () => {
      await opened.close();
      await place.dispose();
    });

    const change = <Result>(work: (rows: AccountRows) => Promise<Result>, ...locks: string[]) =>
      store.transaction(locks, work);
    const ask = <Result>(work: (rows: AccountRows) => Promise<Result>) => store.read(work);

    test('starts empty', async () => {
      expect(await ask(everything)).toEqual(nothing);
      expect(await change(everything)).toEqual(nothing);
      await change((rows) => rows.removeStale(later, later));
      expect(await change((rows) => rows.endSessions('ada', later))).toEqual([]);
      expect(await change((rows) => rows.endAllSessions(later))).toBe(0);
      expect(await change((rows) => rows.removeAllSent())).toBe(0);
    });

    test('brings back what was saved, within the transaction, after it, and where it is saved again', async () => {
      expect(
        await change(async (rows) => {
          await saveOneOfEach(rows);
          return everything(rows);
        }),
      ).toEqual(oneOfEach);
      expect(await ask(everything)).toEqual(oneOfEach);
      await change(saveOthersInTheirPlace);
      expect(await ask(everything)).toEqual(othersInTheirPlace);
    });

    test('brings back any text and any time', async () => {
      const records = fc.record({
        account: someAccount,
        identity: someIdentity,
        session: someSession,
        refreshToken: someRefreshToken,
        invite: someInvite,
        sentToken: someSentToken,
        attempts: someAttempts,
        letter: someLetter,
        owed: someOutboxEntry,
      });
      await fc.assert(
        fc.asyncProperty(records, async (saved) => {
          await change(async (rows) => {
            // The accounts that had this email before lose it.
            for (const id of ['ada', 'bob']) await rows.saveAccount(sampleAccount(id, { emailKey: `-${id}` }));
            await rows.saveAccount(saved.account);
            await rows.saveIdentity(saved.identity);
            await rows.saveSession(saved.session);
            await rows.saveRefreshToken(saved.refreshToken);
            await rows.saveInvite(saved.invite);
            await rows.saveSentToken(saved.sentToken);
            await rows.saveAttempts(saved.attempts);
            await rows.saveLetter(saved.letter);
            await rows.saveOutboxEntry(saved.owed);
          });
          await ask(async (rows) => {
            expect(await rows.account(saved.account.id)).toEqual(saved.account);
            expect(await rows.accountByEmail(saved.account.emailKey)).toEqual(saved.account);
            expect(await rows.identity(saved.identity.id)).toEqual(saved.identity);
            expect(await rows.session(saved.session.id)).toEqual(saved.session);
            expect((await rows.sessionWithAccount(saved.session.id))?.session).toEqual(saved.session);
            expect(await rows.refreshToken(saved.refreshToken.hash)).toEqual(saved.refreshToken);
            expect(await rows.invite(saved.invite.id)).toEqual(saved.invite);
            expect(await rows.sentToken(saved.sentToken.hash)).toEqual(saved.sentToken);
            expect(await rows.attempts(saved.attempts.emailHash)).toEqual(saved.attempts);
            expect(await rows.letter(saved.letter.id)).toEqual(saved.letter);
            expect(await rows.outboxEntries(later, 1000)).toContainEqual(saved.owed);
          });
        }),
        { numRuns: 60 },
      );
    });

    test('brings back long texts whole', async () => {
      const long = 'ä€😀 '.repeat(200_000);
      await change(async (rows) => {
        await rows.saveAccount(sampleAccount('ada', { name: long }));
        await rows.saveSession(sampleSession('s1', { userAgent: long }));
        await rows.saveOutboxEntry(sampleOutboxEntry('o1', { draft: long }));
      });
      const found = await ask((rows) => rows.sessionWithAccount('s1'));
      expect(found?.account.name === long).toBe(true);
      expect(found?.session.userAgent === long).toBe(true);
      expect((await ask((rows) => rows.outboxEntries(later, 1)))[0]?.draft === long).toBe(true);
    });

    describe('accounts', () => {
      test('are found by id and by email key, and by nothing else', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada')));
        await change((rows) => rows.saveAccount(sampleAccount('bob')));
        expect((await ask((rows) => rows.account('bob')))?.id).toBe('bob');
        expect((await ask((rows) => rows.accountByEmail('bob@example.com')))?.id).toBe('bob');
        expect(await ask((rows) => rows.account('bob@example.com'))).toBeUndefined();
        expect(await ask((rows) => rows.accountByEmail('bob'))).toBeUndefined();
        expect(await ask((rows) => rows.accountByEmail('bob@Example.com'))).toBeUndefined();
      });

      test('are listed page by page in the order of creation, then id, each with the total', async () => {
        await change(async (rows) => {
          for (const id of ['d', 'b', 'a', 'e', 'c']) await rows.saveAccount(sampleAccount(id, { createdAt: 20 }));
          await rows.saveAccount(sampleAccount('late', { createdAt: 30 }));
          await rows.saveAccount(sampleAccount('zero', { createdAt: 10 }));
        });
        const page = async (after: { createdAt: number; id: string } | null, limit: number) => {
          const { items, total } = await ask((rows) => rows.accounts(after, limit));
          return [items.map((account) => account.id).join(' '), total];
        };
        expect(await page(null, 100)).toEqual(['zero a b c d e late', 7]);
        expect(await page(null, 3)).toEqual(['zero a b', 7]);
        expect(await page({ createdAt: 20, id: 'b' }, 2)).toEqual(['c d', 7]);
        expect(await page({ createdAt: 20, id: 'd' }, 2)).toEqual(['e late', 7]);
        expect(await page({ createdAt: 30, id: 'late' }, 2)).toEqual(['', 7]);
        // The last item of the page before may be gone.
        expect(await page({ createdAt: 20, id: 'bb' }, 1)).toEqual(['c', 7]);
        expect(await page({ createdAt: 15, id: 'zzz' }, 1)).toEqual(['a', 7]);
      });

      test('are counted, and so are owners who are active and bound to no tenant', async () => {
        await change(async (rows) => {
          await rows.saveAccount(sampleAccount('a', { role: 'owner' }));
          await rows.saveAccount(sampleAccount('b', { role: 'owner' }));
          await rows.saveAccount(sampleAccount('c', { role: 'owner', status: 'disabled' }));
          await rows.saveAccount(sampleAccount('d', { role: 'admin' }));
          await rows.saveAccount(sampleAccount('e', { role: 'owner', orgId: 'acme' }));
          expect(await rows.countActiveOwners()).toBe(2);
        });
        expect(await ask((rows) => rows.countAccounts())).toBe(5);
        expect(await ask((rows) => rows.countActiveOwners())).toBe(2);
      });

      test('do not share an email key: the second is refused with email_taken, and nothing of it is kept', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'x' })));
        const second = change((rows) => rows.saveAccount(sampleAccount('bob', { emailKey: 'x' })));
        await expect(second).rejects.toMatchObject({ name: 'ReeveError', code: 'email_taken' });
        expect(await ask((rows) => rows.account('bob'))).toBeUndefined();
        expect((await ask((rows) => rows.accountByEmail('x')))?.id).toBe('ada');
      });

      test('cannot take the email key of another one later on', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'x' })));
        await change((rows) => rows.saveAccount(sampleAccount('bob', { emailKey: 'y' })));
        const taking = change((rows) => rows.saveAccount(sampleAccount('bob', { emailKey: 'x', name: 'other' })));
        await expect(taking).rejects.toMatchObject({ code: 'email_taken' });
        expect(await ask((rows) => rows.account('bob'))).toEqual(sampleAccount('bob', { emailKey: 'y' }));
      });

      test('that are refused for their email leave the transaction as it was', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'x' })));
        await change(async (rows) => {
          await rows.saveAttempts(sampleAttempts('h'));
          const taken = rows.saveAccount(sampleAccount('bob', { emailKey: 'x' }));
          await expect(taken).rejects.toMatchObject({ code: 'email_taken' });
          await rows.saveAccount(sampleAccount('bob', { emailKey: 'y' }));
        });
        expect((await ask((rows) => rows.accountByEmail('y')))?.id).toBe('bob');
        expect(await ask((rows) => rows.attempts('h'))).toEqual(sampleAttempts('h'));
      });

      test('give up an email key by taking another, and take their own again', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'x' })));
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'y' })));
        await change((rows) => rows.saveAccount(sampleAccount('ada', { emailKey: 'y' })));
        await change((rows) => rows.saveAccount(sampleAccount('bob', { emailKey: 'x' })));
        expect((await ask((rows) => rows.accountByEmail('x')))?.id).toBe('bob');
        expect((await ask((rows) => rows.accountByEmail('y')))?.id).toBe('ada');
      });
    });

    test('identities are found by id and by account, and by nothing else', async () => {
      await change(async (rows) => {
        await rows.saveIdentity(sampleIdentity('b'));
        await rows.saveIdentity(sampleIdentity('a'));
        await rows.saveIdentity(sampleIdentity('c', { accountId: 'bob' }));
      });
      expect(await ask((rows) => rows.identity('a'))).toEqual(sampleIdentity('a'));
      expect(await ask((rows) => rows.identity('subject of a'))).toBeUndefined();
      expect((await ask((rows) => rows.identitiesOf('ada'))).map(({ id }) => id)).toEqual(['a', 'b']);
      expect(await ask((rows) => rows.identitiesOf('a'))).toEqual([]);
      await change((rows) => rows.removeIdentities('ada'));
      expect(await ask((rows) => rows.identity('a'))).toBeUndefined();
      expect((await ask((rows) => rows.identitiesOf('bob'))).map(({ id }) => id)).toEqual(['c']);
    });

    describe('sessions', () => {
      test('that live are listed newest first, then by id; the others are not', async () => {
        await change(async (rows) => {
          await rows.saveSession(sampleSession('old', { createdAt: 10, expiresAt: 101 }));
          await rows.saveSession(sampleSession('same-b', { createdAt: 20, expiresAt: 101 }));
          await rows.saveSession(sampleSession('same-a', { createdAt: 20, expiresAt: 101 }));
          await rows.saveSession(sampleSession('new', { createdAt: 30, expiresAt: 101 }));
          await rows.saveSession(sampleSession('ended', { createdAt: 20, expiresAt: 101, endedAt: 50 }));
          await rows.saveSession(sampleSession('expired', { createdAt: 20, expiresAt: 100 }));
          await rows.saveSession(sampleSession('other', { createdAt: 20, expiresAt: 101, accountId: 'bob' }));
        });
        const live = await ask((rows) => rows.liveSessions('ada', 100));
        expect(live.map((session) => session.id)).toEqual(['new', 'same-a', 'same-b', 'old']);
        expect(live[0]).toEqual(sampleSession('new', { createdAt: 30, expiresAt: 101 }));
      });

      test('come with their account, each with its own members', async () => {
        const account = sampleAccount('ada', { createdAt: 1, lastLoginAt: 2 });
        const session = sampleSession('s1', { createdAt: 3, lastUsedAt: 4, rememberMe: true });
        await change(async (rows) => {
          await rows.saveAccount(account);
          await rows.saveAccount(sampleAccount('bob'));
          await rows.saveSession(session);
          await rows.saveSession(sampleSession('lost', { accountId: 'nobody' }));
        });
        expect(await ask((rows) => rows.sessionWithAccount('s1'))).toEqual({ session, account });
        expect(await ask((rows) => rows.sessionWithAccount('lost'))).toBeUndefined();
        expect(await ask((rows) => rows.sessionWithAccount('ada'))).toBeUndefined();
      });

      test('of an account end together, and those that it ended are returned', async () => {
        await change(async (rows) => {
          await rows.saveSession(sampleSession('s1'));
          await rows.saveSession(sampleSession('s2', { expiresAt: 1 }));
          await rows.saveSession(sampleSession('ended', { endedAt: 5 }));
          await rows.saveSession(sampleSession('other', { accountId: 'bob' }));
        });
        const ended = await change((rows) => rows.endSessions('ada', 77));
        expect([...ended].sort()).toEqual(['s1', 's2']);
        expect(await ask((rows) => rows.session('s1'))).toEqual(sampleSession('s1', { endedAt: 77 }));
        expect((await ask((rows) => rows.session('s2')))?.endedAt).toBe(77);
        expect((await ask((rows) => rows.session('ended')))?.endedAt).toBe(5);
        expect((await ask((rows) => rows.session('other')))?.endedAt).toBeNull();
        expect(await change((rows) => rows.endSessions('ada', 88))).toEqual([]);
        expect((await ask((rows) => rows.session('s1')))?.endedAt).toBe(77);
      });

      test('of all accounts end together, after a restore', async () => {
        await change(async (rows) => {
          await rows.saveSession(sampleSession('s1'));
          await rows.saveSession(sampleSession('ended', { endedAt: 5 }));
          await rows.saveSession(sampleSession('other', { accountId: 'bob' }));
        });
        expect(await change((rows) => rows.endAllSessions(77))).toBe(2);
        const ends = await ask((rows) => Promise.all(['s1', 'ended', 'other'].map((id) => rows.session(id))));
        expect(ends.map((session) => session?.endedAt)).toEqual([77, 5, 77]);
      });
    });

    test('invites, letters and every token that was sent go together, after a restore', async () => {
      await change(saveOneOfEach);
      expect(await change((rows) => rows.removeAllSent())).toBe(1);
      const { account, session } = oneOfEach;
      const left = await ask(everything);
      expect(left).toMatchObject({ account, session });
      expect(await ask((rows) => rows.invite('i1'))).toBeUndefined();
      expect(await ask((rows) => rows.letter('l1'))).toBeUndefined();
      expect(await ask((rows) => rows.dueLetters(later, 10))).toEqual([]);
    });

    describe('invites', () => {
      test('that have not expired are listed page by page, newest first, then by id, each with the total', async () => {
        await change(async (rows) => {
          for (const id of ['b', 'a', 'd', 'c']) {
            await rows.saveInvite(sampleInvite(id, { createdAt: 20, expiresAt: 101 }));
          }
          await rows.saveInvite(sampleInvite('old', { createdAt: 10, expiresAt: 101 }));
          await rows.saveInvite(sampleInvite('new', { createdAt: 30, expiresAt: 102 }));
          await rows.saveInvite(sampleInvite('expired', { createdAt: 20, expiresAt: 100 }));
        });
        const page = async (
          now: number,
          after: { createdAt: number; id: string } | null,
          limit: number,
          within: Binding = everywhere,
        ) => {
          const { items, total } = await ask((rows) => rows.invites(within, now, after, limit));
          return [items.map((invite) => invite.id).join(' '), total];
        };
        expect(await page(100, null, 100)).toEqual(['new a b c d old', 6]);
        expect(await page(99, null, 100)).toEqual(['new a b c d expired old', 7]);
        expect(await page(101, null, 100)).toEqual(['new', 1]);
        expect(await page(100, null, 2)).toEqual(['new a', 6]);
        expect(await page(100, { createdAt: 20, id: 'a' }, 2)).toEqual(['b c', 6]);
        expect(await page(100, { createdAt: 20, id: 'c' }, 2)).toEqual(['d old', 6]);
        expect(await page(100, { createdAt: 10, id: 'old' }, 2)).toEqual(['', 6]);
        expect(await page(100, { createdAt: 20, id: 'bb' }, 1)).toEqual(['c', 6]);
        await change(async (rows) => {
          const times = { createdAt: 1, expiresAt: 101 };
          await rows.saveInvite(sampleInvite('org', { ...times, orgId: 'acme' }));
          await rows.saveInvite(sampleInvite('team', { ...times, orgId: 'acme', teamId: 'shop' }));
          await rows.saveInvite(sampleInvite('else', { ...times, orgId: 'other', teamId: 'shop' }));
        });
        const acme = { orgId: 'acme', teamId: null };
        expect(await page(100, null, 9, acme)).toEqual(['org team', 2]);
        expect(await page(100, { createdAt: 1, id: 'org' }, 9, acme)).toEqual(['team', 2]);
        expect(await page(100, null, 9, { ...acme, teamId: 'shop' })).toEqual(['team', 1]);
        expect((await page(100, null, 9))[1]).toBe(9);
      });

      test('are found by email key, the newest where there are several', async () => {
        await change(async (rows) => {
          await rows.saveInvite(sampleInvite('i1', { emailKey: 'x', createdAt: 1 }));
          await rows.saveInvite(sampleInvite('i2', { emailKey: 'x', createdAt: 3 }));
          await rows.saveInvite(sampleInvite('i3', { emailKey: 'x', createdAt: 2 }));
        });
        expect((await ask((rows) => rows.inviteByEmail('x')))?.id).toBe('i2');
        expect(await ask((rows) => rows.inviteByEmail('X'))).toBeUndefined();
      });

      test('are removed with every token that opens them, and no other', async () => {
        await change(async (rows) => {
          await rows.saveInvite(sampleInvite('i1'));
          await rows.saveInvite(sampleInvite('i2'));
          await rows.saveSentToken(sampleSentToken('t1'));
          await rows.saveSentToken(sampleSentToken('t2'));
          await rows.saveSentToken(sampleSentToken('other', { subjectId: 'i2' }));
          await rows.saveSentToken(sampleSentToken('reset', { purpose: 'reset' }));
          await rows.removeInvite('i1');
          await rows.removeInvite('unknown');
        });
        expect(await ask((rows) => rows.invite('i1'))).toBeUndefined();
        expect(await ask((rows) => rows.invite('i2'))).toEqual(sampleInvite('i2'));
        expect(await ask((rows) => rows.sentToken('t1'))).toBeUndefined();
        expect(await ask((rows) => rows.sentToken('t2'))).toBeUndefined();
        expect(await ask((rows) => rows.sentToken('other'))).toBeDefined();
        expect(await ask((rows) => rows.sentToken('reset'))).toBeDefined();
      });
    });

    test('removes the tokens of one purpose and one subject, and no other', async () => {
      await change(async (rows) => {
        await rows.saveSentToken(sampleSentToken('r1', { purpose: 'reset', subjectId: 'ada' }));
        await rows.saveSentToken(sampleSentToken('r2', { purpose: 'reset', subjectId: 'ada' }));
        await rows.saveSentToken(sampleSentToken('r3', { purpose: 'reset', subjectId: 'bob' }));
        await rows.saveSentToken(sampleSentToken('i1', { purpose: 'invite', subjectId: 'ada' }));
        await rows.removeSentTokens('reset', 'ada');
      });
      const left = await ask(async (rows) => {
        const found = [await rows.sentToken('r1'), await rows.sentToken('r2'), await rows.sentToken('r3')];
        return [...found, await rows.sentToken('i1')].map((token) => token?.hash);
      });
      expect(left).toEqual([undefined, undefined, 'r3', 'i1']);
    });

    test('removes the attempts under one email, and no other', async () => {
      await change(async (rows) => {
        await rows.saveAttempts(sampleAttempts('h1', { count: 5, lockedUntil: 9 }));
        await rows.saveAttempts(sampleAttempts('h2'));
        await rows.removeAttempts('h1');
        await rows.removeAttempts('unknown');
      });
      expect(await ask((rows) => rows.attempts('h1'))).toBeUndefined();
      expect(await ask((rows) => rows.attempts('h2'))).toEqual(sampleAttempts('h2'));
    });

    test('lists the letters that are due, the longest due first, and removes one', async () => {
      await change(async (rows) => {
        await rows.saveLetter(sampleLetter('now', { dueAt: 100 }));
        await rows.saveLetter(sampleLetter('later', { dueAt: 101 }));
        await rows.saveLetter(sampleLetter('first', { dueAt: 10 }));
        await rows.saveLetter(sampleLetter('b', { dueAt: 50 }));
        await rows.saveLetter(sampleLetter('a', { dueAt: 50 }));
      });
      const due = async (limit: number) =>
        (await ask((rows) => rows.dueLetters(100, limit))).map((letter) => letter.id).join(' ');
      expect(await due(10)).toBe('first a b now');
      expect(await due(2)).toBe('first a');
      await change((rows) => rows.removeLetter('first'));
      await change((rows) => rows.removeLetter('unknown'));
      await change((rows) => rows.saveLetter(sampleLetter('a', { dueAt: 200, failures: 1 })));
      expect(await due(10)).toBe('b now');
      expect(await ask((rows) => rows.letter('a'))).toEqual(sampleLetter('a', { dueAt: 200, failures: 1 }));
      expect(await ask((rows) => rows.letter('first'))).toBeUndefined();
    });

    test('lists entries owed since before a time, oldest first, until they are recorded', async () => {
      await change(async (rows) => {
        await rows.saveOutboxEntry(sampleOutboxEntry('late', { at: 100 }));
        await rows.saveOutboxEntry(sampleOutboxEntry('b', { at: 50 }));
        await rows.saveOutboxEntry(sampleOutboxEntry('a', { at: 50 }));
        await rows.saveOutboxEntry(sampleOutboxEntry('first', { at: 10 }));
      });
      const owed = async (limit = 10) =>
        (await ask((rows) => rows.outboxEntries(100, limit))).map((entry) => entry.id).join(' ');
      expect(await owed()).toBe('first a b');
      expect(await owed(2)).toBe('first a');
      await opened.recordOwed('a');
      await opened.recordOwed('unknown');
      expect(await owed()).toBe('first b');
      await change((rows) => rows.saveOutboxEntry(sampleOutboxEntry('first', { at: 70 })));
      expect(await owed()).toBe('b first');
      expect((await ask((rows) => rows.outboxEntries(101, 10))).map((entry) => entry.id)).toEqual([
        'b',
        'first',
        'late',
      ]);
    });

    test('removes what is stale, and nothing else', async () => {
      const before = 1000;
      const now = 2000;
      await change(async (rows) => {
        await rows.saveAccount(sampleAccount('ada', { createdAt: 1 }));
        await rows.saveSession(sampleSession('live', { expiresAt: 3000 }));
        await rows.saveSession(sampleSession('ended long ago', { expiresAt: 3000, endedAt: 999 }));
        await rows.saveSession(sampleSession('ended just now', { expiresAt: 3000, endedAt: 1000 }));
        await rows.saveSession(sampleSession('expired long ago', { expiresAt: 999 }));
        await rows.saveSession(sampleSession('expired just now', { expiresAt: 1000 }));
        for (const id of ['live', 'ended long ago', 'ended just now', 'expired long ago', 'expired just now']) {
          await rows.saveRefreshToken(sampleRefreshToken(`used, ${id}`, { sessionId: id, usedAt: 1 }));
          await rows.saveRefreshToken(sampleRefreshToken(`newest, ${id}`, { sessionId: id }));
        }
        await rows.saveInvite(sampleInvite('open', { createdAt: 1, expiresAt: 2001 }));
        await rows.saveInvite(sampleInvite('expired', { createdAt: 1, expiresAt: 2000 }));
        await rows.saveSentToken(sampleSentToken('open', { subjectId: 'open', expiresAt: 2001 }));
        await rows.saveSentToken(sampleSentToken('expired', { subjectId: 'expired', expiresAt: 2000 }));
        await rows.saveSentToken(sampleSentToken('reset', { purpose: 'reset', subjectId: 'ada', expiresAt: 2000 }));
        await rows.saveAttempts(sampleAttempts('idle', { updatedAt: 999 }));
        await rows.saveAttempts(sampleAttempts('recent', { updatedAt: 1000 }));
        await rows.saveAttempts(sampleAttempts('locked', { updatedAt: 999, lockedUntil: 2001 }));
        await rows.saveAttempts(sampleAttempts('unlocked', { updatedAt: 999, lockedUntil: 2000 }));
        await rows.saveLetter(sampleLetter('l1', { createdAt: 1, dueAt: 1 }));
        await rows.saveOutboxEntry(sampleOutboxEntry('o1', { at: 1 }));
        await rows.removeStale(before, now);
      });
      const kept = await ask(async (rows) => {
        const found: string[] = [];
        for (const id of ['live', 'ended long ago', 'ended just now', 'expired long ago', 'expired just now']) {
          const session = await rows.session(id);
          const used = await rows.refreshToken(`used, ${id}`);
          const newest = await rows.refreshToken(`newest, ${id}`);
          if (session !== undefined) found.push(`session ${id}`);
          if (used !== undefined) found.push(used.hash);
          if (newest !== undefined) found.push(newest.hash);
        }
        for (const id of ['open', 'expired']) if ((await rows.invite(id)) !== undefined) found.push(`invite ${id}`);
        for (const hash of ['open', 'expired', 'reset']) {
          if ((await rows.sentToken(hash)) !== undefined) found.push(`token ${hash}`);
        }
        for (const hash of ['idle', 'recent', 'locked', 'unlocked']) {
          if ((await rows.attempts(hash)) !== undefined) found.push(`attempts ${hash}`);
        }
        return found;
      });
      expect(kept).toEqual([
        'session live',
        'used, live',
        'newest, live',
        'session ended just now',
        'used, ended just now',
        'newest, ended just now',
        'session expired just now',
        'used, expired just now',
        'newest, expired just now',
        'invite open',
        'token open',
        'attempts recent',
        'attempts locked',
      ]);
      expect(await ask((rows) => rows.countAccounts())).toBe(1);
      expect(await ask((rows) => rows.letter('l1'))).toBeDefined();
      expect(await ask((rows) => rows.outboxEntries(later, 10))).toHaveLength(1);
    });

    describe('a transaction', () => {
      test('returns what its work returns, and fails with what its work throws', async () => {
        expect(await change(() => Promise.resolve(42))).toBe(42);
        const failure = new Error('changed my mind');
        await expect(change(() => Promise.reject(failure))).rejects.toBe(failure);
        const atOnce = change(() => {
          throw failure;
        });
        await expect(atOnce).rejects.toBe(failure);
      });

      test('that fails leaves everything as it was', async () => {
        await change(saveOneOfEach);
        const failing = change(async (rows) => {
          await saveOthersInTheirPlace(rows);
          await rows.saveAccount(sampleAccount('bob'));
          await rows.saveSession(sampleSession('s2'));
          await rows.endSessions('ada', 1);
          await rows.removeInvite('i1');
          await rows.removeSentTokens('invite', 'i1');
          await rows.removeAttempts('h1');
          await rows.removeLetter('l1');
          await rows.endAllSessions(later);
          await rows.removeAllSent();
          await rows.removeStale(later, later);
          throw new Error('changed my mind');
        });
        await expect(failing).rejects.toThrow('changed my mind');
        expect(await ask(everything)).toEqual(oneOfEach);
        expect(await ask((rows) => rows.account('bob'))).toBeUndefined();
        expect(await ask((rows) => rows.session('s2'))).toBeUndefined();
        await change(saveOthersInTheirPlace);
        expect(await ask(everything)).toEqual(othersInTheirPlace);
      });

      test('sees what it removes as gone, and what it saves after that as new', async () => {
        await change(saveOneOfEach);
        await change(async (rows) => {
          await rows.removeLetter('l1');
          expect(await rows.letter('l1')).toBeUndefined();
          expect(await rows.dueLetters(later, 10)).toEqual([]);
          await rows.saveLetter(sampleLetter('l1', { failures: 3 }));
          await rows.removeAttempts('h1');
          expect(await rows.attempts('h1')).toBeUndefined();
        });
        expect(await ask((rows) => rows.dueLetters(later, 10))).toEqual([sampleLetter('l1', { failures: 3 })]);
        expect(await ask((rows) => rows.attempts('h1'))).toBeUndefined();
      });

      test('shows nothing of itself to others before it has ended', async () => {
        await change((rows) => rows.saveAccount(sampleAccount('ada')));
        await change(async (rows) => {
          await rows.saveAccount(sampleAccount('ada', { name: 'changed' }));
          await rows.saveAccount(sampleAccount('bob'));
          expect((await ask((others) => others.account('ada')))?.name).toBe('Name of ada');
          expect(await ask((others) => others.countAccounts())).toBe(1);
          expect((await rows.account('ada'))?.name).toBe('changed');
        });
        expect(await ask((rows) => rows.countAccounts())).toBe(2);
      });

      test('lends its rows: once it is over they are refused', async () => {
        let kept: AccountRows | undefined;
        await change(async (rows) => {
          await rows.saveAccount(sampleAccount('ada'));
          kept = rows;
        });
        await expect(kept?.saveAccount(sampleAccount('bob'))).rejects.toThrow(/./);
        await expect(kept?.account('ada')).rejects.toThrow(/./);
        await expect(
          change((rows) => {
            kept = rows;
            return Promise.reject(new Error('changed my mind'));
          }),
        ).rejects.toThrow('changed my mind');
        await expect(kept?.saveAccount(sampleAccount('bob'))).rejects.toThrow(/./);
        expect(await ask((rows) => rows.countAccounts())).toBe(1);
      });

      test('may ask several things at once', async () => {
        await change(saveOneOfEach);
        const both = await change((rows) => Promise.all([rows.account('ada'), rows.session('s1'), rows.invite('i1')]));
        expect(both.map((row) => row?.id)).toEqual(['ada', 's1', 'i1']);
      });
    });

    test('changes nothing where it was asked to read only', async () => {
      await change(saveOneOfEach);
      const attempts: ((rows: AccountRows) => Promise<unknown>)[] = [
        (rows) => rows.saveAccount(sampleAccount('bob')),
        (rows) => rows.saveIdentity(sampleIdentity('p2')),
        (rows) => rows.saveSession(sampleSession('s2')),
        (rows) => rows.endSessions('ada', 1),
        (rows) => rows.saveAttempts(sampleAttempts('h2')),
        (rows) => rows.removeInvite('i1'),
        (rows) => rows.endAllSessions(later),
        (rows) => rows.removeAllSent(),
        (rows) => rows.removeStale(later, later),
        (rows) => rows.saveOutboxEntry(sampleOutboxEntry('o2')),
      ];
      for (const attempt of attempts) await expect(ask(attempt)).rejects.toThrow(/./);
      expect(await ask(everything)).toEqual(oneOfEach);
      expect(await ask((rows) => rows.account('bob'))).toBeUndefined();
    });

    describe('at the same time', () => {
      /** Resolves when all have come, if transactions can wait for each other's beginning. */
      const gathering = (count: number): (() => Promise<void>) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        let missing = traits.oneByOneBecause === undefined ? count : 0;
        return () => {
          missing -= 1;
          if (missing <= 0) resolve();
          return promise;
        };
      };
      const oneOfThem = async (saving: Promise<void>[]) => {
        const outcomes = await Promise.allSettled(saving);
        const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
        expect(refused).toHaveLength(saving.length - 1);
        for (const { reason } of refused) expect(reason).toMatchObject({ code: 'email_taken' });
      };
      const ids = Array.from({ length: 8 }, (_, index) => `a${index}`);

      test('several accounts want one email, and one gets it', async () => {
        const all = gathering(ids.length);
        const take = (id: string) =>
          change(async (rows) => {
            await all();
            await rows.saveAccount(sampleAccount(id, { emailKey: 'x' }));
            await rows.account(id);
          });
        await oneOfThem(ids.map(take));
        expect(await ask((rows) => rows.countAccounts())).toBe(1);
      });

      test('several accounts change to one email, and one gets it', async () => {
        await change(async (rows) => {
          for (const id of ids) await rows.saveAccount(sampleAccount(id));
        });
        const all = gathering(ids.length);
        const take = (id: string) =>
          change(async (rows) => {
            await all();
            await rows.saveAccount(sampleAccount(id, { emailKey: 'x' }));
            await rows.account(id);
          });
        await oneOfThem(ids.map(take));
        expect(await ask((rows) => rows.countAccounts())).toBe(ids.length);
      });

      test('20 first accounts under one lock make one owner', async () => {
        const made = await Promise.all(
          Array.from({ length: 20 }, (_, index) =>
            change(async (rows) => {
              const role = (await rows.countAccounts()) === 0 ? 'owner' : 'developer';
              await rows.saveAccount(sampleAccount(`a${index}`, { role }));
              return role;
            }, 'accounts'),
          ),
        );
        expect(made.filter((role) => role === 'owner')).toHaveLength(1);
        expect(await ask((rows) => rows.countActiveOwners())).toBe(1);
      });

      test('50 attempts under one lock are all counted', async () => {
        await Promise.all(Array.from({ length: 50 }, () => change(countAttempt, 'email:h1')));
        expect((await ask((rows) => rows.attempts('h1')))?.count).toBe(50);
      });

      test('transactions that share one lock of several do not overlap', async () => {
        let inside = 0;
        let most = 0;
        const enter = async (rows: AccountRows) => {
          inside += 1;
          most = Math.max(most, inside);
          await countAttempt(rows);
          await rows.account('ada');
          inside -= 1;
        };
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => change(enter, ...(index % 2 === 0 ? ['a', 'z'] : ['z', 'b']))),
        );
        expect(most).toBe(1);
        expect((await ask((rows) => rows.attempts('h1')))?.count).toBe(20);
      });

      test('transactions that name the same locks in another order do not wait for each other forever', async () => {
        await Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            change(countAttempt, ...(index % 2 === 0 ? ['a', 'b', 'c', 'a'] : ['c', 'b', 'a'])),
          ),
        );
        expect((await ask((rows) => rows.attempts('h1')))?.count).toBe(40);
      });

      test('a transaction that fails gives its locks back', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 20 }, (_, index) =>
            change(async (rows) => {
              await countAttempt(rows);
              if (index % 2 === 0) throw new Error('changed my mind');
            }, 'email:h1'),
          ),
        );
        expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(10);
        expect((await ask((rows) => rows.attempts('h1')))?.count).toBe(10);
      });

      if (traits.oneByOneBecause === undefined) {
        test('transactions that share no lock do not wait for each other', async () => {
          const second = Promise.withResolvers<undefined>();
          const first = change(async (rows) => {
            await rows.saveAttempts(sampleAttempts('h1'));
            await second.promise;
          }, 'a');
          await change((rows) => rows.saveAttempts(sampleAttempts('h2')), 'b');
          await change((rows) => rows.saveAttempts(sampleAttempts('h3')));
          second.resolve(undefined);
          await first;
          expect(await ask((rows) => rows.attempts('h1'))).toBeDefined();
        });
      } else {
        test(`transactions that share no lock run one by one, because ${traits.oneByOneBecause}`, async () => {
          await Promise.all(Array.from({ length: 20 }, (_, index) => change(countAttempt, `lock ${index}`)));
          expect((await ask((rows) => rows.attempts('h1')))?.count).toBe(20);
        });
      }

      if (traits.oneGatewayBecause === undefined) {
        test('two gateways share accounts, locks and emails', async () => {
          const other = await place.open();
          try {
            const either = (index: number) => (index % 2 === 0 ? store : other.store);
            await Promise.all(
              Array.from({ length: 30 }, (_, index) => either(index).transaction(['email:h1'], countAttempt)),
            );
            expect((await other.store.read((rows) => rows.attempts('h1')))?.count).toBe(30);
            const outcomes = await Promise.allSettled(
              Array.from({ length: 10 }, (_, index) =>
                either(index).transaction([], (rows) =>
                  rows.saveAccount(sampleAccount(`a${index}`, { emailKey: 'x' })),
                ),
              ),
            );
            expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
          } finally {
            await other.close();
          }
        });
      }
    });

    test('is unavailable once it is closed, and finishes first what it has begun', async () => {
      const begun = change((rows) => rows.saveAccount(sampleAccount('ada')), 'a');
      const waiting = change((rows) => rows.saveAccount(sampleAccount('bob')), 'a');
      await store.close();
      await begun;
      await waiting;
      const unavailable = { name: 'ReeveError', code: 'store_unavailable' };
      await expect(change((rows) => rows.saveAccount(sampleAccount('eve')))).rejects.toMatchObject(unavailable);
      await expect(ask((rows) => rows.account('ada'))).rejects.toMatchObject(unavailable);
      await store.close();
    });

    if (traits.forgetsBecause === undefined) {
      test('keeps everything when it is closed and opened again', async () => {
        await change(saveOneOfEach);
        await opened.close();
        await open();
        expect(await ask(everything)).toEqual(oneOfEach);
        await opened.recordOwed('o1');
        await change((rows) => rows.removeLetter('l1'));
        await opened.close();
        await open();
        expect(await ask(everything)).toEqual({ ...oneOfEach, letter: undefined, due: [], owed: [] });
      });
    } else {
      test(`starts empty again, because ${traits.forgetsBecause}`, async () => {
        await change(saveOneOfEach);
        await opened.close();
        await open();
        expect(await ask(everything)).toEqual(nothing);
      });
    }
  });
}

/** Later than every time in the samples. */
const later = 4_102_444_800_001;

/** The answer to every query about the records below. */
async function everything(rows: AccountRows) {
  return {
    account: await rows.account('ada'),
    byEmail: await rows.accountByEmail('ada@example.com'),
    accounts: await rows.accounts(null, 10),
    accountCount: await rows.countAccounts(),
    ownerCount: await rows.countActiveOwners(),
    identity: await rows.identity('p1'),
    identities: await rows.identitiesOf('ada'),
    session: await rows.session('s1'),
    both: await rows.sessionWithAccount('s1'),
    live: await rows.liveSessions('ada', 0),
    refreshToken: await rows.refreshToken('r1'),
    invite: await rows.invite('i1'),
    inviteByEmail: await rows.inviteByEmail('i1@example.com'),
    invites: await rows.invites(everywhere, 0, null, 10),
    sentToken: await rows.sentToken('t1'),
    attempts: await rows.attempts('h1'),
    letter: await rows.letter('l1'),
    due: await rows.dueLetters(later, 10),
    owed: await rows.outboxEntries(later, 10),
  };
}

type Everything = Awaited<ReturnType<typeof everything>>;

const nothing: Everything = {
  account: undefined,
  byEmail: undefined,
  accounts: { items: [], total: 0 },
  accountCount: 0,
  ownerCount: 0,
  identity: undefined,
  identities: [],
  session: undefined,
  both: undefined,
  live: [],
  refreshToken: undefined,
  invite: undefined,
  inviteByEmail: undefined,
  invites: { items: [], total: 0 },
  sentToken: undefined,
  attempts: undefined,
  letter: undefined,
  due: [],
  owed: [],
};

const first = {
  account: sampleAccount('ada', { role: 'owner' }),
  identity: sampleIdentity('p1'),
  session: sampleSession('s1'),
  refreshToken: sampleRefreshToken('r1'),
  invite: sampleInvite('i1'),
  sentToken: sampleSentToken('t1'),
  attempts: sampleAttempts('h1'),
  letter: sampleLetter('l1'),
  owed: sampleOutboxEntry('o1'),
};

/** Has the same keys. Every other member differs, except where that would mean another session or email. */
const other: typeof first = {
  account: {
    id: 'ada',
    email: 'ADA@EXAMPLE.COM',
    emailKey: 'ada@example.com',
    name: 'Countess of Lovelace',
    role: 'admin',
    status: 'disabled',
    passwordHash: 'another',
    createdAt: 11,
    lastLoginAt: 12,
    orgId: 'acme',
    teamId: 'core',
  },
  identity: { id: 'p1', accountId: 'ada', issuer: 'https://other.example.com', subject: 's', linkedAt: 13 },
  session: {
    id: 's1',
    accountId: 'ada',
    via: 'oidc',
    rememberMe: true,
    createdAt: 21,
    lastUsedAt: 22,
    expiresAt: 23,
    endedAt: 24,
    address: '2001:db8::1',
    userAgent: '',
  },
  refreshToken: { hash: 'r1', sessionId: 's9', usedAt: 31 },
  invite: {
    id: 'i1',
    email: 'I1@EXAMPLE.COM',
    emailKey: 'i1@example.com',
    role: 'owner',
    invitedBy: 'someone else',
    madeBy: { kind: 'api_key', id: 'abcdefghijkl' },
    asOwner: true,
    orgId: 'acme',
    teamId: 'shop',
    createdAt: 41,
    expiresAt: 42,
  },
  sentToken: { hash: 't1', purpose: 'reset', subjectId: 'ada', expiresAt: 51 },
  attempts: { emailHash: 'h1', count: 5, lockedUntil: 61, updatedAt: 62 },
  letter: { id: 'l1', kind: 'reset', subjectId: 'ada', createdAt: 71, dueAt: 72, failures: 7 },
  owed: { id: 'o1', at: 81, draft: '{}' },
};

function answersAbout(saved: typeof first): Everything {
  const { account, session, invite, owed, ...others } = saved;
  return {
    ...others,
    account,
    byEmail: account,
    accounts: { items: [account], total: 1 },
    accountCount: 1,
    ownerCount: account.role === 'owner' && account.status === 'active' ? 1 : 0,
    identities: [saved.identity],
    session,
    both: { session, account },
    live: session.endedAt === null ? [session] : [],
    invite,
    inviteByEmail: invite,
    invites: { items: [invite], total: 1 },
    due: [saved.letter],
    owed: [owed],
  };
}

const oneOfEach = answersAbout(first);
const othersInTheirPlace = answersAbout(other);

function saveOneOfEach(rows: AccountRows): Promise<void> {
  return save(rows, first);
}

function saveOthersInTheirPlace(rows: AccountRows): Promise<void> {
  return save(rows, other);
}

async function save(rows: AccountRows, saved: typeof first): Promise<void> {
  await rows.saveAccount(saved.account);
  await rows.saveIdentity(saved.identity);
  await rows.saveSession(saved.session);
  await rows.saveRefreshToken(saved.refreshToken);
  await rows.saveInvite(saved.invite);
  await rows.saveSentToken(saved.sentToken);
  await rows.saveAttempts(saved.attempts);
  await rows.saveLetter(saved.letter);
  await rows.saveOutboxEntry(saved.owed);
}

async function countAttempt(rows: AccountRows): Promise<void> {
  const count = (await rows.attempts('h1'))?.count ?? 0;
  // Lets another transaction in between, if nothing keeps it out.
  await rows.account('ada');
  await rows.saveAttempts(sampleAttempts('h1', { count: count + 1 }));
}
