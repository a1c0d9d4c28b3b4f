import { bounds } from '../bounds.ts';
import { without } from './schemas.ts';

/** The facts that a context can state about an action. */
export type ContextMember =
  | 'tool'
  | 'source'
  | 'url'
  | 'model'
  | 'promptTokens'
  | 'maxOutputTokens'
  | 'json'
  | 'annotations'
  | 'operation'
  | 'path'
  | 'host'
  | 'port'
  | 'protocol'
  | 'namedOnly'
  | 'command'
  | 'commandArgs'
  | 'workingDir';

interface ContextShape {
  /** The gRPC names that the context may be nested under. It may also stand bare. */
  readonly names: readonly string[];
  /** The meaning of each member, under every name it may have. Camel case is accepted as well. */
  readonly members: Readonly<Record<string, ContextMember>>;
}

const toolMembers = { tool_name: 'tool', tool: 'tool', tool_source: 'source', source: 'source', url: 'url' } as const;
const processMembers = {
  command: 'command',
  args: 'commandArgs',
  command_args: 'commandArgs',
  working_dir: 'workingDir',
} as const;

/** The context of each kind of action, in JSON. */
export const contextShapes = {
  llm_call: {
    names: ['llm_call'],
    members: { model: 'model', prompt_tokens: 'promptTokens', max_output_tokens: 'maxOutputTokens' },
  },
  tool_call: {
    names: ['tool_call'],
    members: {
      ...toolMembers,
      args_json: 'json',
      args: 'json',
      target_url: 'url',
      annotations_json: 'annotations',
      annotations: 'annotations',
    },
  },
  file_operation: { names: ['file_op', 'file_operation'], members: { operation: 'operation', path: 'path' } },
  network_call: {
    names: ['network_call'],
    members: { host: 'host', port: 'port', protocol: 'protocol', named_only: 'namedOnly' },
  },
  process_exec: { names: ['process_exec'], members: processMembers },
  agent_spawn: { names: ['agent_spawn', 'process_exec'], members: processMembers },
  tool_result: {
    names: ['tool_result'],
    members: { ...toolMembers, result_json: 'json', result: 'json', source_url: 'url' },
  },
} as const satisfies Record<string, ContextShape>;

export type ContextKind = keyof typeof contextShapes;

type JsonSchema = Readonly<Record<string, unknown>>;

const orNull = (type: string, rest: JsonSchema): JsonSchema => ({ type: [type, 'null'], ...rest });
const named = orNull('string', { maxLength: bounds.name });
const written = orNull('string', { maxLength: bounds.text });
const counted = orNull('integer', { minimum: 0, maximum: bounds.int32 });

/** A JSON document, as itself or as text. It may fill the body. */
const document: JsonSchema = {
  anyOf: [
    { type: ['object', 'array', 'number', 'boolean', 'null'], 'x-reeve-fills-body': true },
    { type: 'string', maxLength: bounds.body, contentMediaType: 'application/json' },
  ],
};

/** A small JSON object. Its text, or that in Base64, is taken as well, as for `args_json`. */
const annotations: JsonSchema = { type: ['object', 'null'], 'x-reeve-fills-body': true };

const memberSchemas: Readonly<Record<ContextMember, JsonSchema>> = {
  tool: named,
  source: named,
  url: written,
  model: named,
  promptTokens: counted,
  maxOutputTokens: counted,
  json: document,
  annotations,
  operation: named,
  path: written,
  host: named,
  port: orNull('integer', { minimum: 0, maximum: bounds.port }),
  protocol: named,
  namedOnly: orNull('boolean', {}),
  command: written,
  commandArgs: {
    type: ['array', 'null'],
    maxItems: bounds.text,
    items: { type: 'string', maxLength: bounds.text },
  },
  workingDir: written,
};

/** The JSON Schema of the context of one kind of action, bare or under one of its names. */
export function contextSchema(kind: ContextKind): JsonSchema {
  const { names, members }: ContextShape = contextShapes[kind];
  const all = Object.entries(members).flatMap(([name, member]) =>
    spellings(name).map((each) => [each, member] as const),
  );
  const bare = {
    type: 'object',
    properties: Object.fromEntries(all.map(([name, member]) => [name, memberSchemas[member]])),
    additionalProperties: false,
    ...onceEach(all),
  };
  const wrapped = names.flatMap(spellings).map((name) => ({
    type: 'object',
    properties: { [name]: bare },
    required: [name],
    additionalProperties: false,
  }));
  return { anyOf: [bare, ...wrapped] };
}

/** Refuses a member that is given under two names. */
function onceEach(all: readonly (readonly [string, ContextMember])[]): JsonSchema {
  const pairs = all.flatMap(([name, member], at) =>
    all.slice(at + 1).flatMap(([other, same]) => (same === member ? [[name, other]] : [])),
  );
  return pairs.length === 0 ? {} : without(...pairs);
}

function spellings(name: string): string[] {
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return camel === name ? [name] : [name, camel];
}
