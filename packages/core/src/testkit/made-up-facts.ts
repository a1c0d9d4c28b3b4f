import * as fc from 'fast-check';
import type { Form } from '../replication/encoding/codec.ts';
import { changeSchema, eventSchema } from '../replication/encoding/fact-schema.ts';
import type { AnyStep } from '../replication/facts-of-commit.ts';
import { agentKey } from '../kernel/ids.ts';
import { agentId } from './requests.ts';

/** Facts made up by their schema, so that a new kind or member is among them by itself. */

type MembersOfFact = Readonly<Record<string, { readonly form: Form }>>;

const kinds: readonly (readonly [string, MembersOfFact])[] = Object.entries(changeSchema);
const types: readonly (readonly [string, MembersOfFact])[] = Object.entries(eventSchema);

function formOf(members: MembersOfFact): Form {
  return { members: Object.fromEntries(Object.entries(members).map(([name, { form }]) => [name, form])) };
}

const agents = ['acme/red/one', 'acme/red/two', 'umbrella/blue/three', '//four'].map(agentId);

/** Names and texts that mean something to a codec, a language or a store, but nothing here. */
export const hostileText = fc.oneof(
  fc.constantFrom('', 'default', '$big', '__proto__', 'constructor', 'toJSON', 'toString', 'steps', 'kind', '0', '12'),
  fc.constantFrom('-1', '[2]', '{"$big":"1"}', '\ud800', '\udc00x', '\u0000', '\u2028', '9'.repeat(40)),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const whole = fc.oneof(fc.nat(), fc.constantFrom(0, 1, -1, Number.MAX_SAFE_INTEGER));
const epoch = fc.oneof(fc.constantFrom(0, 1_700_000_000_000), fc.integer({ min: 0, max: 4_102_444_800_000 }));
const sums = fc.oneof(
  whole,
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }),
  fc.bigInt({ min: -(2n ** 90n), max: -(2n ** 53n) }),
);
/** Of values with a member of this name, strict equality compares the members as if they were classes. */
const memberName = hostileText.filter((name) => name !== 'constructor');
const anyJson = fc.dictionary(memberName, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3, noNullPrototype: true });

function anyOf(form: Form): fc.Arbitrary<unknown> {
  if (typeof form === 'string') {
    return {
      text: hostileText,
      integer: whole,
      time: epoch,
      sum: sums,
      flag: fc.boolean(),
      set: fc.constant(true),
      agent: fc.constantFrom(...agents),
      // What JSON does not tell apart, such as -0, is not told apart here.
      json: anyJson.map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    }[form];
  }
  if ('words' in form) return fc.constantFrom(...form.words);
  if ('nullable' in form) return fc.option(anyOf(form.nullable));
  if ('optional' in form) return anyOf(form.optional);
  if ('usually' in form) return fc.oneof(fc.constant(form.usually), anyOf(form.form));
  if ('list' in form) return fc.array(anyOf(form.list), { maxLength: 3 });
  if ('dictionary' in form) {
    return fc
      .array(fc.tuple(hostileText, anyOf(form.dictionary)), { maxLength: 3 })
      .map((all) => Object.fromEntries(all));
  }
  if ('written' in form) return anyOf(form.written).map(form.from as (written: unknown) => unknown);
  const requiredKeys = Object.keys(form.members).filter((name) => !isOptional(form.members[name]));
  const members = Object.fromEntries(Object.entries(form.members).map(([name, member]) => [name, anyOf(member)]));
  return fc.record(members, { requiredKeys, noNullPrototype: true });
}

function isOptional(form: Form | undefined): boolean {
  return typeof form === 'object' && 'optional' in form;
}

/** Any fact of each kind, by its name. */
export const madeUpFacts: ReadonlyMap<string, fc.Arbitrary<AnyStep>> = new Map([
  ...kinds.map(([kind, members]) => [kind, step('change', { kind }, members)] as const),
  ...types.map(([type, members]) => [type, step('event', { type }, members)] as const),
]);

function step(as: 'change' | 'event', name: object, members: MembersOfFact): fc.Arbitrary<AnyStep> {
  return anyOf(formOf(members)).map((fact) => ({ [as]: { ...name, ...(fact as object) } }) as unknown as AnyStep);
}

export const madeUpTouched = fc.record(
  {
    agents: fc.subarray([...agents.map(agentKey), 'acme/', '']),
    orgs: fc.subarray(['acme', '']),
    everything: fc.boolean(),
  },
  { noNullPrototype: true },
);

/** One fact of each kind with all of its members. It is the same in every run, and its texts say where they stand. */
export const wholeFacts: ReadonlyMap<string, AnyStep> = new Map([
  ...kinds.map(
    ([kind, members]) => [kind, { change: { kind, ...wholeOf(formOf(members), kind) } } as AnyStep] as const,
  ),
  ...types.map(([type, members]) => [type, { event: { type, ...wholeOf(formOf(members), type) } } as AnyStep] as const),
]);

function wholeOf(form: Form, place: string): object {
  return valueOf(form, place) as object;
}

function valueOf(form: Form, place: string): unknown {
  if (typeof form === 'string') {
    return {
      text: place,
      integer: place.length,
      time: 1_700_000_000_000 + place.length,
      sum: 2n ** 60n + BigInt(place.length),
      flag: true,
      set: true,
      agent: agents[0],
      json: { [place]: [null, 1.5, 'x'] },
    }[form];
  }
  if ('words' in form) return form.words[0];
  if ('nullable' in form) return valueOf(form.nullable, place);
  if ('optional' in form) return valueOf(form.optional, place);
  if ('usually' in form) return valueOf(form.form, place);
  if ('list' in form) return [valueOf(form.list, `${place}.0`), valueOf(form.list, `${place}.1`)];
  if ('dictionary' in form) return { __name: valueOf(form.dictionary, `${place}.__name`) };
  if ('written' in form) return (form.from as (written: unknown) => unknown)(valueOf(form.written, place));
  return Object.fromEntries(
    Object.entries(form.members).map(([name, member]) => [name, valueOf(member, `${place}.${name}`)]),
  );
}
