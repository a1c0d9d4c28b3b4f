import { beforeEach, expect, test } from 'vitest';
import { fixedRandomness } from '../testkit/fixed-randomness.ts';
import { ManualClock } from '../testkit/manual-clock.ts';
import { plainMint } from '../testkit/plain-mint.ts';
import { operator } from '../testkit/requests.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { portsOf } from '../testkit/ports-of.ts';
import type { Access } from './access.ts';
import { authenticateTicket, redeemTicket, TicketRegistry } from './tickets.ts';
import { Authenticator } from './authenticator.ts';
import { createKey, revokeKey } from './manage-keys.ts';
import type { Principal } from './principal.ts';
import { credentialRings } from '../testkit/credential-rings.ts';

const clock = new ManualClock();
const refused = 'wrong, used or older than 30 seconds';
let access: Access;
let authenticator: Authenticator;
let tickets: TicketRegistry;
let holder: Principal;
let settle: <Result>(work: Promise<Result>) => Promise<Result>;

beforeEach(async () => {
  const world = await testGovernance({ clock });
  ({ settle } = world);
  access = {
    ...portsOf(world.gov),
    ...credentialRings(world.gov),
    mint: plainMint(),
    tokenTtlMs: 1000,
  };
  authenticator = new Authenticator(access);
  tickets = new TicketRegistry(clock, fixedRandomness());
  const grant = { label: 'viewer', scopes: ['read'] as const, orgId: 'acme', teamId: null, ttlMs: 20_000 };
  const { key } = await settle(createKey(access, operator, grant));
  holder = await authenticator.authenticate(`Bearer ${key}`);
});

test('a ticket stands for who it was issued to, and is used up only by being redeemed', async () => {
  const { ticket } = tickets.issue(holder);
  expect(await authenticateTicket(tickets, authenticator, ticket)).toEqual(holder);
  expect(await authenticateTicket(tickets, authenticator, ticket)).toEqual(holder);
  await redeemTicket(tickets, ticket);
  await expect(redeemTicket(tickets, ticket)).rejects.toThrow(refused);
  await expect(authenticateTicket(tickets, authenticator, ticket)).rejects.toThrow(refused);
});

test('a ticket ends with the credential that it was issued to: by revocation', async () => {
  const { ticket } = tickets.issue(holder);
  await settle(revokeKey(access, operator, holder.credentialId));
  await expect(authenticateTicket(tickets, authenticator, ticket)).rejects.toThrow(refused);
});

test('a ticket ends with the credential that it was issued to: by its time', async () => {
  const { ticket } = tickets.issue(holder);
  clock.advance(20_001);
  await expect(authenticateTicket(tickets, authenticator, ticket)).rejects.toThrow(refused);
});

test('a made-up ticket and one that is too old are refused alike', async () => {
  const { ticket } = tickets.issue({ ...holder, expiresAt: null, credentialId: 'nobody' });
  clock.advance(30_000);
  for (const bad of [ticket, 'rvt_made-up', '']) {
    await expect(authenticateTicket(tickets, authenticator, bad)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(redeemTicket(tickets, bad)).rejects.toThrow(refused);
  }
});
