import type { Issuers, SubjectIssuer } from '../access/index.ts';
import { proveBy } from '../access/index.ts';
import type { Json } from '../audit/index.ts';
import { InexactNumber, longest } from '../kernel/index.ts';
import type { Subject, User } from '../action/index.ts';

/** How far clocks of issuers may be off. */
const leewaySecs = 60;

/**
 * For whom a token says that an agent acts. It answers at once, unless the token is new or the keys of its issuer are
 * not here.
 */
export function proveSubject(issuers: Issuers<SubjectIssuer>, token: string): Subject | Promise<Subject> {
  if (issuers.trusted.length === 0) return { proven: false, why: 'no issuer of users is configured' };
  const found = proveBy(issuers, token, leewaySecs, userIn);
  return found instanceof Promise ? found.then(subjectOf) : subjectOf(found);
}

function subjectOf(found: Awaited<ReturnType<typeof proveBy<SubjectIssuer, User | string>>>): Subject {
  if (!found.ok) return { proven: false, why: found.why };
  const { proof, expiresAt } = found;
  if (typeof proof === 'string') return { proven: false, why: proof };
  return { proven: true, user: proof, until: expiresAt + leewaySecs * 1000 };
}

/** The same claims are read once: a verified token is kept, and shown often. */
const known = new WeakMap<SubjectIssuer, WeakMap<object, User | string>>();

/** The user that verified claims name, or what is wrong with them. */
function userIn(settings: SubjectIssuer, claims: Readonly<Record<string, unknown>>): User | string {
  const ofIssuer = known.get(settings) ?? new WeakMap<object, User | string>();
  known.set(settings, ofIssuer);
  const read = ofIssuer.get(claims) ?? readUser(settings, claims);
  ofIssuer.set(claims, read);
  return read;
}

function readUser({ issuer, claims: names }: SubjectIssuer, claims: Readonly<Record<string, unknown>>): User | string {
  const sub = claimIn(claims, 'sub');
  if (typeof sub !== 'string' || sub === '') return 'has no "sub"';
  const email = isVerified(claims) ? claimIn(claims, names.email) : '';
  const address = typeof email === 'string' ? email : '';
  if (!isName(sub)) return 'has a "sub" that is no name';
  if (!isName(address)) return `has an "${names.email}" that is no address`;
  return { issuer, sub, email: address, groups: groupsIn(claimIn(claims, names.groups)), claims: exact(claims) };
}

function claimIn(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Some providers write it as a text. */
function isVerified(claims: Readonly<Record<string, unknown>>): boolean {
  const said = claimIn(claims, 'email_verified');
  return said !== false && said !== 'false';
}

/** Logs, lists and terminals show it. */
function isName(text: string): boolean {
  return text.length <= longest.name && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

/** Some providers write a single group as a text. */
function groupsIn(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

/** Whole numbers that a double may have rounded are none that a condition may look at. */
function exact(claims: Readonly<Record<string, unknown>>): User['claims'] {
  const text = JSON.stringify(claims);
  const read: unknown = JSON.parse(text, (_, value: unknown) =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? new InexactNumber(String(value))
      : value,
  );
  return read as Readonly<Record<string, Json>>;
}
