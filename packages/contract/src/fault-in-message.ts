import type { Bound, BoundedMessage, MessageBounds } from './message-bounds.ts';
import { messageBounds } from './message-bounds.ts';

/** A member that exceeds its bound: its path in proto names, and the correct form. */
export interface MessageFault {
  readonly field: string;
  readonly problem: string;
}

type Members = Readonly<Record<string, unknown>>;
/**
 * Checks one member. The field of a fault is the rest of its path after the member's name, so that nothing is put
 * together for the messages without a fault, which are nearly all.
 */
type Check = (value: unknown, whole: Members) => MessageFault | undefined;
type MessageCheck = (message: Members) => MessageFault | undefined;

/** The first member of a decoded message that exceeds its bound. Undefined if none does. */
export function faultInMessage(name: BoundedMessage, message: object): MessageFault | undefined {
  return checkOf(name)(message as Members);
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
  const all = Object.entries(members).map(([name, bound]) => ({
    // The member of a oneof has a name of its own.
    name: bound.kind === 'oneof' ? '' : name,
    member: camelCase(name),
    check: check(bound),
  }));
  return (message) => {
    for (const { name, member, check } of all) {
      const value = message[member];
      if (value === undefined) continue;
      const found = check(value, message);
      if (found !== undefined) return within(name, found);
    }
    return undefined;
  };
}

function check(bound: Bound): Check {
  switch (bound.kind) {
    case 'text':
      return (value) => tooLong(value as string, bound.most);
    case 'bytes':
      return (value) =>
        (value as Uint8Array).length > bound.most ? fault(`must be at most ${bound.most} bytes`) : undefined;
    case 'number':
      return (value) => outside(value as number, bound.least, bound.most);
    case 'message': {
      let checked: MessageCheck | undefined;
      return (value) => {
        checked ??= checkOf(bound.of);
        const found = checked(value as Members);
        return found && within('.', found);
      };
    }
    case 'messages':
      return (value) => faultInEach(value as readonly Members[], bound);
    case 'texts':
      return (value, whole) => faultInTexts(value as readonly string[], bound, whole);
    case 'map':
      return (value) => faultInMap(value as Readonly<Record<string, string>>, bound);
    case 'oneof':
      return checkOneof(bound.members);
  }
}

/** Only one member is present, under its own name rather than the name of the oneof. */
function checkOneof(members: MessageBounds): Check {
  const byCase = new Map(
    Object.entries(members).map(([name, bound]) => [camelCase(name), { name, check: check(bound) }]),
  );
  return (value, whole) => {
    const { $case, value: held } = value as { readonly $case: string; readonly value: unknown };
    const member = byCase.get($case);
    const found = member?.check(held, whole);
    return found && within(member?.name ?? '', found);
  };
}

function within(path: string, { field, problem }: MessageFault): MessageFault {
  return { field: path + field, problem };
}

function tooLong(value: string, most: number): MessageFault | undefined {
  return value.length > most ? fault(`must be at most ${most} characters`) : undefined;
}

function outside(value: number, least: number, most: number): MessageFault | undefined {
  if (value >= least && value <= most) return undefined;
  if (value < least && least === 0) return fault('must not be negative');
  return fault(`must be ${least} to ${most}`);
}

function faultInEach(
  values: readonly Members[],
  { of, items }: Extract<Bound, { kind: 'messages' }>,
): MessageFault | undefined {
  if (values.length > items) return fault(`at most ${items} are taken at once, not ${values.length}`);
  const each = checkOf(of);
  for (const [index, value] of values.entries()) {
    const found = each(value);
    if (found !== undefined) return within(`[${index}].`, found);
  }
  return undefined;
}

function faultInTexts(
  values: readonly string[],
  { items, each, together: most, after }: Extract<Bound, { kind: 'texts' }>,
  whole: Members,
): MessageFault | undefined {
  if (values.length > items) return fault(`must be at most ${items}, not ${values.length}`);
  let together = after === undefined ? 0 : (whole[camelCase(after)] as string).length;
  for (const [index, value] of values.entries()) {
    together += value.length + 1;
    if (value.length > each) return fault(`must be at most ${each} characters`, `[${index}]`);
  }
  if (together <= most) return undefined;
  const all = after === undefined ? 'together' : `together with ${after}`;
  return fault(`must be at most ${most} characters ${all}, not ${together}`);
}

function faultInMap(
  map: Readonly<Record<string, string>>,
  { items, name, value }: Extract<Bound, { kind: 'map' }>,
): MessageFault | undefined {
  const entries = Object.entries(map);
  if (entries.length > items) return fault(`must have at most ${items} members, not ${entries.length}`);
  for (const [key, held] of entries) {
    if (key.length > name) return fault(`the name of a member must be at most ${name} characters`);
    if (held.length > value) return fault(`must be at most ${value} characters`, `.${key}`);
  }
  return undefined;
}

function fault(problem: string, field = ''): MessageFault {
  return { field, problem };
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
