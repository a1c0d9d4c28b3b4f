import type { Bound, BoundedMessage, MessageBounds } from './message-bounds.ts';
import { messageBounds } from './message-bounds.ts';

/** A member that exceeds its bound: its path in proto names, and the correct form. */
export interface MessageFault {
  readonly field: string;
  readonly problem: string;
}

type Check = (value: unknown, field: string, whole: Members) => MessageFault | undefined;
type Members = Readonly<Record<string, unknown>>;
type MessageCheck = (message: Members, at: string) => MessageFault | undefined;

/** The first member of a decoded message that exceeds its bound. Undefined if none does. */
export function faultInMessage(name: BoundedMessage, message: object): MessageFault | undefined {
  return checkOf(name)(message as Members, '');
}

/** Built once per message, because every decision runs a check. */
const checks = new Map<string, MessageCheck>();

function checkOf(name: string): MessageCheck {
  const known = checks.get(name);
  if (known !== undefined) return known;
  const table: Readonly<Record<string, MessageBounds>> = messageBounds;
  const made = checkAll(table[name] ?? {});
  checks.set(name, made);
  return made;
}

function checkAll(members: MessageBounds): MessageCheck {
  const all = Object.entries(members).map(([name, bound]) => ({ name, member: camelCase(name), check: check(bound) }));
  return (message, at) => {
    for (const { name, member, check } of all) {
      const value = message[member];
      if (value === undefined) continue;
      const fault = check(value, at + name, message);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
}

function check(bound: Bound): Check {
  switch (bound.kind) {
    case 'text':
      return (value, field) => tooLong(value as string, field, bound.most);
    case 'bytes':
      return (value, field) =>
        (value as Uint8Array).length > bound.most ? fault(field, `must be at most ${bound.most} bytes`) : undefined;
    case 'number':
      return (value, field) => outside(value as number, field, bound.least, bound.most);
    case 'message':
      return (value, field) => checkOf(bound.of)(value as Members, `${field}.`);
    case 'messages':
      return (value, field) => faultInEach(value as readonly Members[], field, bound);
    case 'texts':
      return (value, field, whole) => faultInTexts(value as readonly string[], field, bound, whole);
    case 'map':
      return (value, field) => faultInMap(value as Readonly<Record<string, string>>, field, bound);
    case 'oneof':
      return checkOneof(bound.members);
  }
}

/** Only one member is present, under its own name rather than the name of the oneof. */
function checkOneof(members: MessageBounds): Check {
  const byCase = new Map(
    Object.entries(members).map(([name, bound]) => [camelCase(name), { name, check: check(bound) }]),
  );
  return (value, field, whole) => {
    const { $case, value: held } = value as { readonly $case: string; readonly value: unknown };
    const member = byCase.get($case);
    const around = field.slice(0, field.lastIndexOf('.') + 1);
    return member?.check(held, around + member.name, whole);
  };
}

function tooLong(value: string, field: string, most: number): MessageFault | undefined {
  return value.length > most ? fault(field, `must be at most ${most} characters`) : undefined;
}

function outside(value: number, field: string, least: number, most: number): MessageFault | undefined {
  if (value >= least && value <= most) return undefined;
  if (value < least && least === 0) return fault(field, 'must not be negative');
  return fault(field, `must be ${least} to ${most}`);
}

function faultInEach(
  values: readonly Members[],
  field: string,
  { of, items }: Extract<Bound, { kind: 'messages' }>,
): MessageFault | undefined {
  if (values.length > items) return fault(field, `at most ${items} are taken at once, not ${values.length}`);
  const each = checkOf(of);
  for (const [index, value] of values.entries()) {
    const found = each(value, `${field}[${index}].`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function faultInTexts(
  values: readonly string[],
  field: string,
  { items, each, together: most, after }: Extract<Bound, { kind: 'texts' }>,
  whole: Members,
): MessageFault | undefined {
  if (values.length > items) return fault(field, `must be at most ${items}, not ${values.length}`);
  let together = after === undefined ? 0 : (whole[camelCase(after)] as string).length;
  for (const [index, value] of values.entries()) {
    together += value.length + 1;
    if (value.length > each) return fault(`${field}[${index}]`, `must be at most ${each} characters`);
  }
  if (together <= most) return undefined;
  const all = after === undefined ? 'together' : `together with ${after}`;
  return fault(field, `must be at most ${most} characters ${all}, not ${together}`);
}

function faultInMap(
  map: Readonly<Record<string, string>>,
  field: string,
  { items, name, value }: Extract<Bound, { kind: 'map' }>,
): MessageFault | undefined {
  const entries = Object.entries(map);
  if (entries.length > items) return fault(field, `must have at most ${items} members, not ${entries.length}`);
  for (const [key, held] of entries) {
    if (key.length > name) return fault(field, `the name of a member must be at most ${name} characters`);
    if (held.length > value) return fault(`${field}.${key}`, `must be at most ${value} characters`);
  }
  return undefined;
}

function fault(field: string, problem: string): MessageFault {
  return { field, problem };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
