import { readFixedRun } from '../front/fixed-run.ts';
import type { Glob } from '../glob.ts';
import { compileGlob } from '../glob.ts';
import type { ProviderKind } from './refusal.ts';

/** A provider of models, and which of them it serves. */
export interface Upstream {
  readonly name: string;
  readonly kind: ProviderKind;
  readonly baseUrl: URL;
  /** Sent to the upstream and shown to nobody. Undefined if the upstream wants none. */
  readonly apiKey: string | undefined;
  readonly models: readonly Glob[];
  /** What a call that names no maximum may put out. */
  readonly maxOutputTokens: number;
  /** The most that one image counts. */
  readonly imageTokens: number;
  /** What input counts that the upstream adds and the request only refers to. */
  readonly unseenInputTokens: number;
  /** Whether clients cannot choose their run. */
  readonly isRunFixed: boolean;
}

/** What is wrong with the file, in one line. */
export class ModelConfigError extends Error {}

const kinds = ['openai', 'anthropic'] as const;
const largestTokens = 100_000_000;
const defaultOutputTokens = 4096;
const defaultUnseenTokens = 200_000;
/** The most that a picture is known to count at each provider. */
const defaultImageTokens: Readonly<Record<ProviderKind, number>> = { openai: 50_000, anthropic: 5000 };
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const known = new Set([
  'name',
  'kind',
  'base_url',
  'api_key_env',
  'models',
  'max_output_tokens',
  'image_tokens',
  'unseen_input_tokens',
  'run',
]);

type Members = Readonly<Record<string, unknown>>;

/** Reads the file. `variable` looks up an environment variable. */
export function modelConfigOf(
  document: unknown,
  variable: (name: string) => string | undefined,
): readonly [Upstream, ...Upstream[]] {
  const { upstreams, run, ...others } = membersOf(document, 'the file');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new ModelConfigError(`unknown key "${unknown}"; known are upstreams, run`);
  if (!Array.isArray(upstreams)) throw new ModelConfigError('"upstreams" must be a list of upstreams');
  const isFixed = runIn(run, '"run"');
  const [first, ...rest] = upstreams.map((each: unknown, at) =>
    upstreamOf(each, `upstreams[${at}]`, variable, isFixed),
  );
  if (first === undefined) throw new ModelConfigError('"upstreams" must have at least one upstream');
  const all = [first, ...rest] as const;
  const twice = all.find(({ name }, at) => all.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined) throw new ModelConfigError(`two upstreams have the name "${twice.name}"`);
  return all;
}

function upstreamOf(
  value: unknown,
  place: string,
  variable: (name: string) => string | undefined,
  isFixed: boolean,
): Upstream {
  const members = membersOf(value, place);
  const unknown = Object.keys(members).find((key) => !known.has(key));
  if (unknown !== undefined) {
    throw new ModelConfigError(`${place}: unknown key "${unknown}"; known are ${[...known].join(', ')}`);
  }
  const name = textIn(members, 'name', place);
  if (!namePattern.test(name)) throw new ModelConfigError(`${place}.name must be letters, digits, ".", "_" and "-"`);
  const kind = kinds.find((each) => each === members['kind']);
  if (kind === undefined) throw new ModelConfigError(`${place}.kind must be one of ${kinds.join(', ')}`);
  return {
    name,
    kind,
    baseUrl: urlIn(members, place),
    apiKey: keyIn(members, place, variable),
    models: globsIn(members, place),
    maxOutputTokens: tokensIn(members, 'max_output_tokens', place) ?? defaultOutputTokens,
    imageTokens: tokensIn(members, 'image_tokens', place) ?? defaultImageTokens[kind],
    unseenInputTokens: tokensIn(members, 'unseen_input_tokens', place) ?? defaultUnseenTokens,
    isRunFixed: runIn(members['run'], `${place}.run`) || isFixed,
  };
}

function runIn(value: unknown, place: string): boolean {
  return readFixedRun(value, place, (message) => {
    throw new ModelConfigError(message);
  });
}

function urlIn(members: Members, place: string): URL {
  const url = URL.parse(textIn(members, 'base_url', place));
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '';
  if (!isGood) throw new ModelConfigError(`${place}.base_url must be an http or https URL without a query`);
  if (url.username !== '' || url.password !== '') {
    throw new ModelConfigError(`${place}.base_url must not hold a credential; name a variable in api_key_env`);
  }
  return url;
}

function keyIn(members: Members, place: string, variable: (name: string) => string | undefined): string | undefined {
  if (members['api_key_env'] === undefined) return undefined;
  const name = textIn(members, 'api_key_env', place);
  const key = variable(name)?.trim() ?? '';
  if (key === '') throw new ModelConfigError(`${place}.api_key_env: the environment variable ${name} is not set`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ModelConfigError(`${place}.api_key_env: ${name} holds characters that no header can hold`);
  }
  return key;
}

function globsIn(members: Members, place: string): readonly Glob[] {
  const globs = members['models'];
  if (!Array.isArray(globs) || globs.length === 0) {
    throw new ModelConfigError(`${place}.models must be a list of globs, such as ["gpt-*"]`);
  }
  return globs.map((glob: unknown, at) => {
    const compiled = typeof glob === 'string' && glob !== '' ? compileGlob(glob) : undefined;
    if (compiled === undefined) throw new ModelConfigError(`${place}.models[${at}] is not a glob`);
    return compiled;
  });
}

function tokensIn(members: Members, key: string, place: string): number | undefined {
  const value = members[key];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= largestTokens) return value;
  throw new ModelConfigError(`${place}.${key} must be a whole number from 0 to ${largestTokens}`);
}

function textIn(members: Members, key: string, place: string): string {
  const value = members[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new ModelConfigError(`${place}.${key} must be text`);
}

function membersOf(value: unknown, place: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ModelConfigError(`${place} must be a map`);
}
