import { Broken } from './broken.ts';
import type { JudgedEntry } from './judged-entry.ts';
import { approvers } from './policies.ts';
import type { Person } from './people.ts';
import { people } from './people.ts';

/** What an approval asks for, as the log tells of it. */
interface JudgedApproval {
  readonly required: number;
  readonly asksWho: boolean;
  readonly expiresAt: number;
  /** The user whose verdict does not count. */
  readonly user: { readonly sub: string; readonly email: string } | undefined;
}

/** Who is behind a key: the person that made it, or nobody but an admin or not. */
interface JudgedKey {
  readonly person: Person | undefined;
  readonly isAdmin: boolean;
}

/** What the log says of approvals, and of who is behind a verdict. */
export class JudgedApprovals {
  readonly #open = new Map<string, JudgedApproval>();
  readonly #keys = new Map<string, JudgedKey>();

  /** A key counts as the person that made it. */
  makeKey({ actor, payload: { key_id: id = '', scopes = [] } }: JudgedEntry): void {
    const person = actor.kind === 'account' ? personWith(actor.id) : this.#keys.get(actor.id)?.person;
    this.#keys.set(id, { person, isAdmin: scopes.includes('admin') });
  }

  request({ payload }: JudgedEntry): void {
    const { approval_id: id = '', required = 1, not_user: notUser = false, user, expires_at: end } = payload;
    this.#open.set(id, {
      required,
      asksWho: 'by' in payload,
      expiresAt: Date.parse(end ?? ''),
      user: notUser ? user : undefined,
    });
  }

  /** An action runs only by the verdicts of enough people, each of whom counts. */
  grant({ seq, payload, at }: JudgedEntry): void {
    const { approval_id: id = '', approvers: ids = [] } = payload;
    const asked = this.#open.get(id);
    if (asked === undefined) throw new Broken(`entry ${seq}: ${id} is approved, and is not open`);
    this.#open.delete(id);
    if (at >= asked.expiresAt) throw new Broken(`entry ${seq}: ${id} is approved after its time`);
    const different = new Set(ids.map((each) => this.#personBehind(each)?.id ?? each));
    if (different.size < asked.required) {
      throw new Broken(`entry ${seq}: ${id} is approved by ${[...different].join(', ')}; it takes ${asked.required}`);
    }
    for (const each of ids) this.#requireCounts(seq, asked, each);
  }

  close({ payload: { approval_id: id = '' } }: JudgedEntry): void {
    this.#open.delete(id);
  }

  #requireCounts(seq: number, { asksWho, user }: JudgedApproval, id: string): void {
    const person = this.#personBehind(id);
    if (person !== undefined && user !== undefined && (person.email === user.email || person.sub === user.sub)) {
      throw new Broken(`entry ${seq}: ${person.id} approves what happens for ${person.id}`);
    }
    const role = person?.role ?? (this.#keys.get(id)?.isAdmin === true ? 'admin' : 'viewer');
    if (asksWho && !approvers.includes(role)) throw new Broken(`entry ${seq}: ${id} approves as ${role}`);
  }

  #personBehind(id: string): Person | undefined {
    return personWith(id) ?? this.#keys.get(id)?.person;
  }
}

function personWith(id: string): Person | undefined {
  return people.find((person) => person.id === id);
}
