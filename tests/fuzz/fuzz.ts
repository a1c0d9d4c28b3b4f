import type { Arbitrary } from 'fast-check';
import * as fc from 'fast-check';
import type { Operation } from './document.ts';
import type { FuzzCase } from './fuzz-case.ts';
import { mutatedCases, validCases, wireOf } from './fuzz-case.ts';
import { Judge } from './judge.ts';
import { withoutLongBody } from './malformed.ts';
import type { WireAnswer, WireRequest } from './wire.ts';
import { send } from './wire.ts';
import type { World } from './world.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Valid and mutated requests for each operation. */
  readonly valid: number;
  readonly mutated: number;
}

/** How often each operation got each status. */
export type Tally = Map<string, Map<number, number>>;

/** Calls every operation of the document, and fails with the smallest faulty request. */
export async function fuzz(world: World, tally: Tally, options: FuzzOptions): Promise<void> {
  const judge = new Judge(world.document);
  const sources = { schemas: world.document.schemas, known: world.known };
  const names = Object.keys(world.credentials);
  // Most requests should pass authentication.
  const credentials = [...names, ...Array.from({ length: names.length }, () => 'admin')];
  for (const [index, operation] of world.document.operations.entries()) {
    const seed = (options.seed * 1009 + index) | 0;
    const run = (cases: Arbitrary<FuzzCase>, numRuns: number) =>
      fc.assert(
        fc.asyncProperty(cases, (fuzzCase) => tryCase(world, judge, tally, fuzzCase)),
        { seed, numRuns, reporter: reportOf(world, options.seed) },
      );
    await run(validCases(operation, sources, credentials), options.valid);
    await run(mutatedCases(operation, sources, credentials), options.mutated);
  }
}

async function tryCase(world: World, judge: Judge, tally: Tally, fuzzCase: FuzzCase): Promise<void> {
  const credential = world.credentials[fuzzCase.credential];
  if (credential === undefined) throw new Error(`there is no credential ${fuzzCase.credential}`);
  const request = withoutLongBody(wireOf(fuzzCase, credential.authorization));
  const answer = await send(world.gateway.http, request);
  count(tally, fuzzCase.operation, answer.status);
  const faults = judge.faults(request, credential, answer);
  if (fuzzCase.mutations.length === 0 && isRefusedAsInvalid(fuzzCase, answer)) {
    faults.push(`a request that the document allows was refused with ${answer.status}`);
  }
  if (faults.length > 0) {
    throw new Error(
      `${faults.join('; ')}\nanswer: ${answer.status} ${withoutKeys(answer.body.toString('utf8').slice(0, 1000))}`,
    );
  }
}

/**
 * What a schema cannot express. A cursor must come from the list. The approval decides what can be granted, and past
 * bookings what can be corrected. A setting limits the cost of an action, and the caller limits the name of a document.
 * A command counts together with its arguments.
 */
function isRefusedAsInvalid({ query, body }: FuzzCase, { status, body: answered }: WireAnswer): boolean {
  const members = membersOf(body);
  if ('cursor' in query || 'grant' in members || 'amount_usd' in members) return false;
  const costs = [members.actual_cost_micros, members.estimated_cost_micros];
  if (costs.some((cost) => Number(cost ?? 0) > mostActionMicros)) return false;
  if ([400, 413, 414, 415].includes(status)) return true;
  // Other codes concern meaning rather than form: a weak password, an invalid token, a bad policy.
  const problem = answered.toString('utf8');
  const unsayable = ['together with the command', 'names of documents that tenants made'];
  return (
    status === 422 &&
    problem.includes('"code":"validation_failed"') &&
    !unsayable.some((detail) => problem.includes(detail))
  );
}

/** The default of SVC_MAX_ACTION_COST_USD. */
const mostActionMicros = 1_000_000_000;

function membersOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function count(tally: Tally, { method, path }: Operation, status: number): void {
  const name = `${method} ${path}`;
  const statuses = tally.get(name) ?? new Map<number, number>();
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  tally.set(name, statuses);
}

/** Throws what is needed to repeat the failing request, without its secrets. */
function reportOf(world: World, seed: number) {
  return (details: fc.RunDetails<[FuzzCase]>): void => {
    if (!details.failed) return;
    const [fuzzCase] = details.counterexample ?? [];
    if (fuzzCase === undefined) throw new Error(`no request could be made: ${String(details.errorInstance)}`);
    const { authorization } = world.credentials[fuzzCase.credential] ?? {};
    const shown = show(wireOf(fuzzCase, authorization), fuzzCase.credential);
    const { message } = details.errorInstance instanceof Error ? details.errorInstance : { message: '' };
    throw new Error(`${message}\nseed ${seed}, path ${details.counterexamplePath ?? ''}, request:\n${shown}`);
  };
}

function show({ method, target, headers, body }: WireRequest, credential: string): string {
  const isSecret = (name: string, value: string) => name === 'authorization' && /rvk_|\.|xxxx/.test(value);
  const lines = headers.map(([name, value]) => `${name}: ${isSecret(name, value) ? `<${credential}>` : brief(value)}`);
  const text = body === undefined ? '' : `\n\n${brief(JSON.stringify(body.toString('utf8')))} (${body.length} bytes)`;
  return `${method} ${brief(target)}\n${lines.join('\n')}${text}`;
}

function withoutKeys(text: string): string {
  return text.replaceAll(/rvk_\w+|eyJ[\w.-]+/g, '…');
}

function brief(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 2000)}… (${text.length} characters)` : text;
}
