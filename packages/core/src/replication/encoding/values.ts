import type { AgentId, Total } from '../../kernel/index.ts';
import type { Codec, CommitReading, CommitWriting, OptionalCodec } from './codec.ts';
import { misfit } from './codec.ts';

/** A text that other facts of the same commit are likely to repeat. */
export const text: Codec<string> = {
  form: 'text',
  write: (value, to) => to.textOf(value),
  read: readText,
};

function readText(written: unknown, { interned, texts }: CommitReading): string {
  if (typeof written === 'string') return interned.text(written);
  const value = typeof written === 'number' ? texts[written] : undefined;
  if (typeof value !== 'string') throw misfit('text');
  return value;
}

/** A text that no other fact of the same commit repeats, such as a digest. */
export const ownText: Codec<string> = {
  form: 'text',
  write: (value) => value,
  read: (written, { interned }) => {
    if (typeof written !== 'string') throw misfit('text');
    return interned.text(written);
  },
};

/** The id of an operation: facts about the same one follow each other. */
export const opId: Codec<string> = {
  form: 'text',
  write: (value, to) => to.opIdOf(value),
  read: (written, from) => (typeof written === 'string' ? written : readText(written, from)),
};

/** One of these texts. The compiler asks for all that the type has. */
export function word<Name extends string>(names: readonly Name[]): Codec<Name> {
  const known: ReadonlySet<string> = new Set(names);
  return {
    form: { words: names },
    write: (value, to) => to.textOf(value),
    read: (written, from) => {
      const value = readText(written, from);
      if (!known.has(value)) throw misfit('known word');
      return value as Name;
    },
  };
}

/** JSON reads it, and writes it as zero. */
const minusZero = -0;

export const integer: Codec<number> = {
  form: 'integer',
  write: (value) => value,
  read: (written) => {
    if (!Number.isSafeInteger(written) || Object.is(written, minusZero)) throw misfit('whole number');
    return written as number;
  },
};

/** Beyond these 140,000 years, the way from one time to another is no exact number. */
const latest = 2 ** 52;

/** A point in time, which is mostly near the others of its commit. */
export const time: Codec<number> = {
  form: 'time',
  write: (value, to) => {
    // All other times of the commit count from the first. So a wrong one is refused before it is durable.
    to.base ??= requireTime(value);
    return value - to.base;
  },
  read: (written, { base }) => requireTime(typeof written === 'number' ? base + written : Number.NaN),
};

function requireTime(at: number): number {
  if (!Number.isInteger(at) || Math.abs(at) > latest || Object.is(at, minusZero)) throw misfit('time');
  return at;
}

/** A sum of money. JSON has no number for a large one. */
export const sum: Codec<Total> = {
  form: 'sum',
  write: (value) => (typeof value === 'bigint' ? String(value) : value),
  read: (written, from) => {
    if (typeof written !== 'string') return integer.read(written, from);
    if (!/^-?\d{1,1000}$/.test(written)) throw misfit('sum');
    return BigInt(written);
  },
};

export const flag: Codec<boolean> = {
  form: 'flag',
  write: (value) => (value ? 1 : 0),
  read: (written = 0) => {
    if (written !== 0 && written !== 1) throw misfit('flag');
    return written === 1;
  },
  absent: 0,
};

/** A member that is there or not, and says nothing more. */
export const set: Codec<true> = {
  form: 'set',
  write: () => 1,
  read: (written) => {
    if (written !== 1) throw misfit('flag');
    return true;
  },
};

/** A record that an earlier release has made may lack the member: then it is null. */
export function nullable<Value>({ form, write, read }: Codec<Value>): Codec<Value | null> {
  return {
    form: { nullable: form },
    write: (value, to) => (value === null || value === undefined ? null : write(value, to)),
    read: (written = null, from) => (written === null ? null : read(written, from)),
    absent: null,
  };
}

export function optional<Value>({ form, write, read }: Codec<Value>): OptionalCodec<Value> {
  return {
    form: { optional: form },
    write: (value, to) => (value === undefined ? null : write(value, to)),
    read: (written = null, from) => (written === null ? undefined : read(written, from)),
    absent: null,
    isOptional: true,
  };
}

/** A text or a number that most facts lack. */
export function usually<Value extends string | number>(
  absent: '' | 0,
  { form, write, read }: Codec<Value>,
): Codec<Value> {
  return { form: { usually: absent, form }, write, read: (written = absent, from) => read(written, from), absent };
}

const nothing: readonly never[] = [];

export function list<Item>({ form, write, read }: Codec<Item>): Codec<readonly Item[]> {
  return {
    form: { list: form },
    write: (items, to) => (items.length === 0 ? 0 : items.map((item) => write(item, to))),
    read: (written = 0, from) => {
      if (written === 0) return nothing;
      if (!Array.isArray(written)) throw misfit('list');
      return written.map((item) => read(item, from));
    },
    absent: 0,
  };
}

/** Members whose names are data. No name means anything here. */
export function dictionary<Value>(value: Codec<Value>): Codec<Readonly<Record<string, Value>>> {
  return {
    form: { dictionary: value.form },
    write: (members, to) => {
      const entries = Object.entries(members);
      return entries.length === 0 ? 0 : entries.flatMap(([name, member]) => [to.textOf(name), value.write(member, to)]);
    },
    read: (written = 0, from) => {
      if (written === 0) return {};
      if (!Array.isArray(written) || written.length % 2 === 1) throw misfit('list of members');
      const members: [string, Value][] = [];
      for (let at = 0; at < written.length; at += 2) {
        members.push([readText(written[at], from), value.read(written[at + 1], from)]);
      }
      return Object.fromEntries(members);
    },
    absent: 0,
  };
}

/** Whatever JSON holds. Nothing in it is interpreted. */
export function json<Value>(): Codec<Value> {
  return {
    form: 'json',
    write: (value) => value,
    read: (written) => {
      if (written === undefined || !canBeWritten(written)) throw misfit('value');
      return written as Value;
    },
  };
}

/** Deeper than any details. Whoever writes them again calls itself for each level. */
const deepest = 100;

/** Whether a value can be written as it was read. JSON has no infinite number and no -0, although both can be read from it. */
function canBeWritten(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, minusZero);
  if (typeof value !== 'object' || value === null) return true;
  return depth < deepest && Object.values(value).every((member) => canBeWritten(member, depth + 1));
}

/** A value that is written as another one. */
export function as<Value, Written>(
  { form, write, read }: Codec<Written>,
  to: (value: Value) => Written,
  from: (written: Written) => Value,
): Codec<Value> {
  return {
    form: { written: form, from },
    write: (value, writing) => write(to(value), writing),
    read: (written, reading) => from(read(written, reading)),
  };
}

/** By its place among those that the commit touches, mostly. */
export const agent: Codec<AgentId> = {
  form: 'agent',
  write: (id, to) => to.placeOf(id) ?? agentRow(id, to),
  read: (written, from) => {
    if (typeof written !== 'number') return agentOf(written, from);
    const id = from.agents[written];
    if (id === undefined) throw misfit('agent that its commit touches');
    return id;
  },
};

export function agentRow({ orgId, teamId, agentId }: AgentId, to: CommitWriting): unknown[] {
  return [to.textOf(orgId), to.textOf(teamId), agentId];
}

/** With this character, the key of an agent would be that of another one. */
function readId(written: unknown, from: CommitReading): string {
  const id = readText(written, from);
  if (id.includes('/')) throw misfit('id');
  return id;
}

export function agentOf(written: unknown, from: CommitReading): AgentId {
  if (!Array.isArray(written)) throw misfit('agent');
  const [orgId, teamId, agentId] = written;
  return { orgId: readId(orgId, from), teamId: readId(teamId, from), agentId: readId(agentId, from) };
}
