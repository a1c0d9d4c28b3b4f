import type { DescriptorProto, FieldDescriptorProto } from '@bufbuild/protobuf/wkt';
import { FieldDescriptorProto_Label as Label, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { bounds } from './bounds.ts';
import { fileDescriptors } from './descriptors.ts';
import { faultInMessage } from './fault-in-message.ts';
import type { Bound, BoundedMessage, MessageBounds } from './message-bounds.ts';
import { messageBounds } from './message-bounds.ts';

const files = fileDescriptors();
const messages = new Map<string, DescriptorProto>(
  files.flatMap((file) => file.messageType.map((message) => [`.${file.package}.${message.name}`, message] as const)),
);
const table: Readonly<Record<string, MessageBounds>> = messageBounds;

/** Every message that a caller can send, with its nested messages. */
function requestMessages(): Map<string, DescriptorProto> {
  const found = new Map<string, DescriptorProto>();
  const add = (type: string) => {
    const message = messages.get(type);
    if (message === undefined || found.has(type)) return;
    found.set(type, message);
    for (const field of message.field) add(field.typeName);
  };
  for (const file of files) {
    for (const service of file.service) for (const method of service.method) add(method.inputType);
  }
  return found;
}

/** The bound of a oneof member stands in the oneof's table. */
function boundOf(message: DescriptorProto, field: FieldDescriptorProto): Bound | undefined {
  const members = table[message.name] ?? {};
  const choices = Object.values(members).flatMap((bound) => (bound.kind === 'oneof' ? [bound.members] : []));
  return members[field.name] ?? choices.find((choice) => field.name in choice)?.[field.name];
}

function kindOf(message: DescriptorProto, field: FieldDescriptorProto): Bound['kind'] | undefined {
  const isMap = message.nestedType.some((nested) => field.typeName.endsWith(`.${nested.name}`));
  if (isMap) return 'map';
  const many = field.label === Label.REPEATED;
  if (field.type === Type.BOOL || field.type === Type.ENUM) return undefined;
  if (field.type === Type.STRING) return many ? 'texts' : 'text';
  if (field.type === Type.MESSAGE) return many ? 'messages' : 'message';
  return field.type === Type.BYTES ? 'bytes' : 'number';
}

const all = [...requestMessages().values()].flatMap((message) =>
  message.field.map((field) => [`${message.name}.${field.name}`, message, field] as const),
);

test('there are request messages to look at', () => {
  expect(all.length).toBeGreaterThan(60);
});

test.each(all)('%s has a bound of its kind', (_name, message, field) => {
  const bound = boundOf(message, field);
  expect(bound?.kind).toBe(kindOf(message, field));
  if (bound?.kind === 'message' || bound?.kind === 'messages')
    expect(field.typeName.endsWith(`.${bound.of}`)).toBe(true);
});

test('there is no bound for what the protos do not have', () => {
  const names = new Set([...requestMessages().values()].map(({ name }) => name));
  expect(Object.keys(messageBounds).filter((name) => !names.has(name))).toEqual([]);
});

/** For each member, the smallest message in which that member exceeds its bound, with the member's path. */
function overflows(name: string, at = ''): [field: string, message: object][] {
  return Object.entries(table[name] ?? {}).flatMap(([member, bound]) => overflowsOf(member, bound, at));
}

function overflowsOf(member: string, bound: Bound, at: string): [string, object][] {
  const key = member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const field = at + member;
  const one = (value: unknown, where = field): [string, object] => [where, { [key]: value }];
  switch (bound.kind) {
    case 'text':
      return [one('x'.repeat(bound.most + 1))];
    case 'bytes':
      return [one(new Uint8Array(bound.most + 1))];
    case 'number':
      return [one(-1), one(bound.most + 1)];
    case 'message':
      return overflows(bound.of, `${field}.`).map(([where, message]) => one(message, where));
    case 'messages':
      return [
        one(Array.from({ length: bound.items + 1 }, () => ({}))),
        ...overflows(bound.of, `${field}[1].`).map(([where, message]) => one([{}, message], where)),
      ];
    case 'texts': {
      const beside = bound.after === undefined ? {} : { [bound.after]: '' };
      return [
        one(Array.from({ length: bound.items + 1 }, () => '')),
        one(['x'.repeat(bound.each + 1)], `${field}[0]`),
        one(Array.from({ length: Math.ceil(bound.together / bound.each) + 1 }, () => 'x'.repeat(bound.each))),
      ].map(([where, message]) => [where, { ...beside, ...message }]);
    }
    case 'map':
      return [
        one(Object.fromEntries(Array.from({ length: bound.items + 1 }, (_, index) => [`m${index}`, '']))),
        one({ ['x'.repeat(bound.name + 1)]: '' }),
        one({ m: 'x'.repeat(bound.value + 1) }, `${field}.m`),
      ];
    case 'oneof':
      return Object.entries(bound.members).flatMap(([inner, of]) =>
        overflowsOf(inner, of, at).map(([where, message]): [string, object] => {
          const [$case, value] = Object.entries(message)[0] ?? [];
          return [where, { [key]: { $case, value } }];
        }),
      );
  }
}

const requests = [...new Set(files.flatMap(({ service }) => service.flatMap(({ method }) => method)))].map(
  ({ inputType }) => inputType.slice(inputType.lastIndexOf('.') + 1) as BoundedMessage,
);

describe.each([...new Set(requests)])('%s', (name) => {
  test.each(overflows(name))('with %s beyond its bound is refused, naming it', (field, message) => {
    expect(faultInMessage(name, message)).toMatchObject({ field });
  });
});

test('a command counts with its arguments, and what fills the bounds is taken', () => {
  const check = (command: string, args: string[]) =>
    faultInMessage('CheckActionRequest', {
      context: { action: { $case: 'processExec', value: { command, args } } },
    });
  expect(check('x'.repeat(4000), ['y'.repeat(4191)])).toBeUndefined();
  expect(check('x'.repeat(4000), ['y'.repeat(4192)])).toMatchObject({ field: 'context.process_exec.args' });
  expect(faultInMessage('RegisterAgentRequest', { name: '😀'.repeat(bounds.name / 2) })).toBeUndefined();
  expect(faultInMessage('RegisterAgentRequest', { name: `${'😀'.repeat(bounds.name / 2)}x` })).toMatchObject({
    field: 'name',
    problem: 'must be at most 512 characters',
  });
});
