import { numberFaultIn } from '@reeve/contract/exact-numbers';
import type { Refusal } from '@reeve/sdk/mcp';
import { denied } from '@reeve/sdk/mcp';
import { refusedRequest, refusedResult } from './govern/answers.ts';
import { foldedName } from '../json/lookalike.ts';
import type { ListPage, ToolCatalog } from './lock/tool-catalog.ts';
import { argumentNames, noNames, twinIn } from './protocol/argument-names.ts';
import type { ArgumentNames } from './protocol/argument-names.ts';
import { envelopeOf } from './protocol/envelope.ts';
import { contradictsParams, headersOfParams } from './protocol/mcp-headers.ts';
import type { JsonId, Message, Request } from './protocol/message.ts';
import { errorMessage, withParams, writtenParams } from './protocol/message.ts';
import type { JsonObject } from './protocol/written-json.ts';
import { isObject } from './protocol/written-json.ts';
import type { Exchange } from './transport/exchange.ts';
import type { SentHeaders } from './transport/upstream.ts';

/** What a request is to the gateway: a call of a tool, in any case. */
export interface CallSubject {
  readonly id: JsonId;
  readonly method: string;
  readonly tool: string;
  readonly args: unknown;
  readonly annotations: JsonObject | undefined;
  /** Why its result could not be judged, if policy wants to judge it. */
  readonly unjudgeable: string | undefined;
  /** Why it may not happen, whatever policy says. */
  refusal(): Promise<Refusal | undefined>;
  /** What is wrong with it. */
  fault(): Message | undefined;
  /** The message for the server, and its headers, with other arguments if policy has rewritten them. */
  sent(args: JsonObject | undefined): { readonly message: Message; readonly headers: SentHeaders };
  /** The answer to a request that is not carried out, or whose result is not given. */
  refused(refusal: Refusal): Message;
}

/** No check holds a longer one, and matching it against globs could take forever. */
const longestName = 512;
const ofTask = 'the call wants its result later, as that of a task, where nobody judges it';

/** The tool that a call names. Undefined if it names none. */
export function toolOf(params: unknown): string | undefined {
  const name = isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' && name.length <= longestName ? name : undefined;
}

export interface AskedTool {
  readonly request: Request;
  readonly message: Message;
  readonly exchange: Exchange;
  readonly tool: string;
  /** Lists the tools of the server; undefined before it can be asked. */
  readonly list: ListPage | undefined;
  /** Why the server cannot be called for this caller, or undefined. */
  readonly denial: string | undefined;
}

export function toolSubject(asked: AskedTool, catalog: ToolCatalog): CallSubject {
  const { tool, list, denial, message, exchange } = asked;
  const { id, method, params } = asked.request;
  const { headers } = exchange;
  const isStateless = envelopeOf(params) !== undefined;
  const args = isObject(params) ? params['arguments'] : undefined;
  const wrong = (code: number, text: string) => errorMessage(id, code, text);
  return {
    id,
    method,
    tool,
    args,
    get annotations() {
      return catalog.find(tool)?.annotations;
    },
    unjudgeable: isObject(params) && params['task'] !== undefined ? ofTask : undefined,
    refusal: async () => {
      const reason = denial ?? (await catalog.refusal(tool, list));
      const policyRule = denial === undefined ? 'lock' : 'auth';
      return reason === undefined ? undefined : denied({ reason, policyRule, opId: '' });
    },
    fault: () => {
      const known = catalog.find(tool);
      const inNumbers = numberFaultIn(JSON.stringify(writtenParams(message)?.['arguments']) ?? '');
      if (inNumbers !== undefined) return wrong(-32_602, `in the arguments, ${inNumbers}`);
      if (isStateless && headers !== undefined && contradictsParams(headers, known?.headers ?? [], args)) {
        return wrong(-32_020, 'the headers Mcp-Param-… do not say what the arguments say');
      }
      const names = known === undefined ? noNames : known.names;
      if (names === undefined) return wrong(-32_602, 'the tool declares more arguments than can be told apart');
      const twin = twinIn(args, names);
      return twin === undefined ? undefined : wrong(-32_602, twinText(twin));
    },
    sent: (rewritten) => ({
      message: rewritten === undefined ? message : withParams(message, { arguments: rewritten }),
      headers: {
        values: headersOfParams(catalog.find(tool)?.headers ?? [], rewritten ?? args),
        isRewritten: rewritten !== undefined,
      },
    }),
    refused: (refusal) => refusedResult(id, refusal, isStateless),
  };
}

/** The parameters of what can be governed besides tools. Their arguments are names with texts. */
const properties = {
  'resources/read': { uri: {} },
  'resources/subscribe': { uri: {} },
  'prompts/get': { name: {}, arguments: {} },
  'subscriptions/listen': { notifications: { properties: { resourceSubscriptions: {} } } },
};

/** Whether a client of revision 2026-07-28 asks to hear of resources, or another reader could think so. */
export function listensToResources(params: unknown): boolean {
  return foldedName(JSON.stringify(params) ?? '').includes('resourcesubscriptions');
}

const namesOf = (method: string): ArgumentNames => {
  const declared = Object.hasOwn(properties, method) ? properties[method as keyof typeof properties] : {};
  return argumentNames({ properties: { ...declared, _meta: {} } }) ?? noNames;
};

/** A request that is a check although it calls no tool: its method is the tool, and its parameters are the arguments. */
export function requestSubject({ id, method, params }: Request, message: Message): CallSubject {
  const tool = method === 'subscriptions/listen' ? 'resources/subscribe' : method;
  const { _meta: _, ...own } = isObject(params) ? params : {};
  const args = method === 'subscriptions/listen' ? listened(own) : own;
  return {
    id,
    method,
    tool,
    args,
    annotations: undefined,
    unjudgeable: undefined,
    refusal: async () => (args === undefined ? denied({ reason: oneAtATime, policyRule: '', opId: '' }) : undefined),
    fault: () => {
      const inNumbers = numberFaultIn(JSON.stringify({ ...writtenParams(message), _meta: undefined }));
      if (inNumbers !== undefined) return errorMessage(id, -32_602, `in the parameters, ${inNumbers}`);
      const twin = twinIn(params, namesOf(method));
      return twin === undefined ? undefined : errorMessage(id, -32_602, twinText(twin));
    },
    sent: (rewritten) => ({
      message: rewritten === undefined ? message : withParams(message, rewrittenParams(method, own, rewritten)),
      headers: { values: {}, isRewritten: rewritten !== undefined },
    }),
    refused: (refusal) => refusedRequest(id, refusal),
  };
}

const oneAtATime = 'subscriptions/listen may name one resource at a time, as a text, where subscriptions are governed';

/** The resource that a client wants to hear of, as `resources/subscribe` names it. Undefined if there is more than one. */
function listened(params: JsonObject): JsonObject | undefined {
  const { notifications } = params;
  const wanted = isObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
  const [uri, ...more] = Array.isArray(wanted) ? (wanted as unknown[]) : [];
  return typeof uri === 'string' && more.length === 0 ? { uri } : undefined;
}

/** What is not among them any more goes away. */
function rewrittenParams(method: string, own: JsonObject, rewritten: JsonObject): JsonObject {
  if (method === 'subscriptions/listen') {
    const { notifications } = own;
    const uris = [rewritten['uri']];
    return { notifications: { ...(isObject(notifications) ? notifications : {}), resourceSubscriptions: uris } };
  }
  const gone = Object.keys(own).filter((name) => !Object.hasOwn(rewritten, name));
  return { ...Object.fromEntries(gone.map((name) => [name, undefined])), ...rewritten };
}

function twinText(twin: string): string {
  return `${JSON.stringify(twin.slice(0, 64))} differs from another argument only in upper and lower case`;
}
