import { parse as parseQuery } from 'node:querystring';
import { problemStatus } from '@reeve/contract/http';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ApiDocument, JsonSchema, Operation, Reached } from './document.ts';
import { methodsAt, reachedBy } from './document.ts';
import { isMisdirected, refusalsOfBytes } from './malformed.ts';
import type { FuzzCredential } from './world.ts';
import type { WireAnswer, WireRequest } from './wire.ts';

/** Finds the faults of an answer. Empty if there are none. */
export class Judge {
  readonly #document: ApiDocument;
  readonly #ajv = validator(false);
  /** Parameters arrive as text. */
  readonly #coercing = validator(true);
  readonly #compiled = new Map<JsonSchema, ValidateFunction>();

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  faults(request: WireRequest, credential: FuzzCredential, answer: WireAnswer): string[] {
    const reached = reachedBy(this.#document, request.method, request.target);
    return [
      ...this.#faultsOfAnyAnswer(answer, request),
      ...(reached === undefined
        ? this.#faultsWithoutOperation(answer, request)
        : this.#faultsOf(reached, request, credential, answer)),
    ];
  }

  #faultsOfAnyAnswer({ status, headers, body }: WireAnswer, { method }: WireRequest): string[] {
    const faults: string[] = [];
    if (status >= 500) faults.push(`the status is ${status}`);
    if (headers.has('x-injected')) faults.push('a header was injected');
    if (status < 400) return faults;
    if (headers.get('content-type') !== 'application/problem+json') {
      return [...faults, `a refusal has the type ${headers.get('content-type')}`];
    }
    if (status === 401 && headers.get('www-authenticate') !== 'Bearer') faults.push('a 401 without WWW-Authenticate');
    if (status === 429 && !headers.has('retry-after')) faults.push('a 429 without Retry-After');
    if (status === 405 && !headers.has('allow')) faults.push('a 405 without Allow');
    return method === 'HEAD' ? faults : [...faults, ...this.#faultsOfProblem(status, body)];
  }

  #faultsOfProblem(status: number, body: Buffer): string[] {
    const problem = jsonIn(body) as { status?: unknown; code?: unknown } | undefined;
    const faults = this.#invalid(problemReference, problem, 'the problem');
    if (problem?.status !== status) faults.push(`the problem says ${String(problem?.status)}, the status is ${status}`);
    const code = problem?.code as keyof typeof problemStatus;
    if (problemStatus[code] !== status) faults.push(`the code ${code} does not go with ${status}`);
    return faults;
  }

  #faultsWithoutOperation({ status }: WireAnswer, request: WireRequest): string[] {
    const expected = [...(isMisdirected(request) ? [421] : [404, 405]), ...refusalsOfBytes(request)];
    if (expected.includes(status)) return [];
    return [`${status} at a path with the methods ${methodsAt(this.#document, request.target).join(', ') || 'none'}`];
  }

  #faultsOf(reached: Reached, request: WireRequest, credential: FuzzCredential, answer: WireAnswer): string[] {
    const { operation } = reached;
    const { status, headers, body } = answer;
    if (refusalsOfBytes(request).includes(status)) return [];
    const declared = operation.answers[status];
    if (declared === undefined) return [`the status ${status} is not declared`];
    // The host is checked first, before the credential. Health and metrics do not declare it.
    const mustBeRefused = isMisdirected(request) && operation.answers[421] !== undefined;
    if (mustBeRefused !== (status === 421)) {
      return [
        mustBeRefused ? `a request for another host was answered with ${status}` : 'a request was called misdirected',
      ];
    }
    if (mustBeRefused) return [];
    const faults = faultsOfAccess(operation, credential, answer, request);
    if (headers.get('x-content-type-options') !== 'nosniff') faults.push('an answer without nosniff');
    if (!/^[A-Za-z0-9._-]{1,64}$/.test(headers.get('x-request-id') ?? ''))
      faults.push('an answer without a request id');
    if (status >= 400) return faults;
    faults.push(...this.#faultsOfAcceptance(reached, request));
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const content = declared.content ?? {};
    const media = content[type];
    if (declared.content === undefined && body.length === 0) return faults;
    if (media === undefined) faults.push(`the type ${type} is not among ${Object.keys(content).join(', ')}`);
    if (media?.schema === undefined || request.method === 'HEAD') return faults;
    return [...faults, ...this.#invalid(media.schema, jsonIn(body), 'the body')];
  }

  /** The gateway may accept only what the document declares acceptable. */
  #faultsOfAcceptance({ operation, parameters }: Reached, { target, headers, body: sent }: WireRequest): string[] {
    const query = { ...parseQuery(target.split('?')[1] ?? '') };
    const given = { path: parameters, query, header: Object.fromEntries(headers) };
    const faults = operation.parameters.flatMap(({ in: where, name, schema, required }) => {
      const value = given[where][name];
      if (value === undefined) return required ? [`it was accepted without ${name}`] : [];
      return this.#invalidText(schema, value) ? [`the accepted ${where} has ${name}=${String(value)}`] : [];
    });
    if (operation.method === 'GET') return faults;
    const body = sent === undefined || sent.length === 0 ? {} : jsonIn(sent);
    return [...faults, ...this.#invalid(operation.body ?? nothing, body, 'the accepted body')];
  }

  #invalid(schema: JsonSchema, value: unknown, what: string): string[] {
    const validate = this.#validatorOf(schema, this.#ajv, schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }

  #invalidText(schema: JsonSchema, value: unknown): boolean {
    return !this.#validatorOf(schema, this.#coercing, { properties: { value: schema } })({ value });
  }

  #validatorOf(key: JsonSchema, ajv: Ajv2020, schema: JsonSchema): ValidateFunction {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const made = ajv.compile({ ...schema, components: { schemas: this.#document.schemas } });
    this.#compiled.set(key, made);
    return made;
  }
}

function validator(coerceTypes: boolean): Ajv2020 {
  return new Ajv2020({ strict: false, allErrors: true, validateFormats: false, coerceTypes });
}

const problemReference = { $ref: '#/components/schemas/Problem' };
const nothing = { type: 'object', properties: {}, additionalProperties: false };
/** Refusals of public account routes. They do not concern the credential of the call. */
const refusalsOfPeople = new Set([
  'wrong_credentials',
  'session_ended',
  'refresh_raced',
  'registration_closed',
  'cross_origin',
]);
const rank = { bad: -1, read: 0, write: 1, admin: 2 };

/** Whether the answer shows that the credential was checked, and first of all. */
function faultsOfAccess(
  { access, tenancy }: Operation,
  { level, isKey, isBound }: FuzzCredential,
  { status, body }: WireAnswer,
  request: WireRequest,
): string[] {
  if (access === undefined) {
    const { code } = (jsonIn(body) ?? {}) as { code?: string };
    const isAboutCredential = (status === 401 || status === 403) && !refusalsOfPeople.has(code ?? '');
    return isAboutCredential ? [`a public route answers ${status} ${code}`] : [];
  }
  const isDoubled = request.headers.filter(([name]) => name === 'authorization').length > 1;
  const isRefused = level === 'bad' || isDoubled || (access === 'api_key' && !isKey);
  if (isRefused) return status === 401 ? [] : [`a bad credential was answered with ${status}`];
  if (status === 401) return ['a good credential was refused'];
  const needed = rank[access as 'read' | 'write' | 'admin'] ?? -1;
  if (rank[level] < needed) return status === 403 ? [] : [`a credential without the scope was answered with ${status}`];
  if (tenancy === 'person') return status === 403 ? [] : [`an API key was answered with ${status}`];
  if (isBound && tenancy === 'unbound' && status < 400) return [`a tenant was answered with ${status}`];
  return [];
}

function jsonIn(body: Buffer): unknown {
  try {
    // Like the gateway, without the byte order mark.
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}
