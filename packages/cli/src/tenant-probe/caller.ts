import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../is-object.ts';
import { encodeRequest } from '@reeve/contract/encode-request';
import type { RouteName, RouteRequest, Routes } from '@reeve/contract/http';
import type { CallInit, ProbeOptions } from './ports.ts';

export interface Call {
  readonly method: string;
  /** The path after the base URL, with the query. */
  readonly path: string;
  readonly bearer: string | undefined;
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  /** The media type without parameters. */
  readonly type: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly text: string;
}

const mostRetries = 10;
/** A stream of events has no end. The probe waits so long for its beginning, and then listens a little. */
const firstWithinMs = 10_000;
const streamMs = 100;

/** Sends the calls of a probe and counts them. Waits for a rate limit instead of exceeding it. */
export class Caller {
  readonly #options: Pick<ProbeOptions, 'baseUrl' | 'fetch'>;
  #calls = 0;

  constructor(options: Pick<ProbeOptions, 'baseUrl' | 'fetch'>) {
    this.#options = options;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Calls a route by its name in the contract. */
  async callRoute<Name extends RouteName>(
    name: Name,
    bearer: string | undefined,
    request: RouteRequest<Routes[Name]>,
  ): Promise<Answer> {
    const { method, path } = encodeRequest(name, request);
    const { body }: { readonly body?: unknown } = request;
    return this.call({ method, path, bearer, body });
  }

  async call(call: Call): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#send(call);
      if (answer.status !== 429 || attempt === mostRetries) return answer;
      const wait = Number(answer.headers.find(([name]) => name === 'retry-after')?.[1] ?? 1);
      await sleep(Math.min(Number.isFinite(wait) ? wait : 1, 60) * 1000);
    }
  }

  async #send({ method, path, bearer, body }: Call): Promise<Answer> {
    this.#calls++;
    const init: CallInit = {
      method,
      redirect: 'manual',
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const response = await this.#options.fetch(`${this.#options.baseUrl}${path}`, init);
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
    const text = type === 'text/event-stream' ? await readForAWhile(response) : await response.text();
    return { status: response.status, type, headers: [...response.headers], text };
  }
}

async function readForAWhile(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let over = sleep(firstWithinMs, undefined, { ref: false });
  let text = '';
  for (;;) {
    const step = await Promise.race([reader.read(), over]);
    if (step === undefined || step.done) break;
    if (text === '') over = sleep(streamMs, undefined);
    text += decoder.decode(step.value as Uint8Array, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** Whether the gateway would admit the caller by another protocol, as far as can be told without speaking it. */
export function isOtherProtocol(answer: Answer): boolean {
  return answer.status === 426 && codeOf(answer) === 'upgrade_required';
}

export function succeeded(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/** The body as a value: JSON, JSON lines, CSV records or events. Undefined for anything else. */
export function valueOf(answer: Answer): unknown {
  try {
    if (/[/+]json$/.test(answer.type)) return JSON.parse(answer.text);
    if (answer.type === 'application/x-ndjson') {
      const lines = answer.text.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as unknown);
    }
    if (answer.type === 'text/event-stream') return eventsIn(answer.text);
  } catch {
    return undefined;
  }
  return answer.type === 'text/csv' ? recordsOf(answer.text) : undefined;
}

/** The events received from a stream, without those that only state its position. */
function eventsIn(text: string): unknown[] {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 1);
  const data = [...whole.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json) as unknown);
  return data.filter((event) => isObject(event) && 'id' in event);
}

/** The records of a CSV text (RFC 4180), each as an object keyed by the header line. */
function recordsOf(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end !== ',') rows.push([]);
  }
  const [names = [], ...records] = rows.filter((row) => row.some((cell) => cell !== ''));
  return records.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}

/** The code of a problem. Empty if the answer is not a problem. */
export function codeOf(answer: Answer): string {
  const value = valueOf(answer);
  return isObject(value) && typeof value['code'] === 'string' ? value['code'] : '';
}
