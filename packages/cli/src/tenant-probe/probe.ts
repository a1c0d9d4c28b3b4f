import { withoutAllowed } from './allowed-mentions.ts';
import type { Substitution } from './build-call.ts';
import { buildCall } from './build-call.ts';
import type { Canaries } from './canaries.ts';
import type { Made } from './canary-setup.ts';
import { madeKeyIn } from './canaries.ts';
import { inviteIn } from './make-invites.ts';
import type { Answer, Caller } from './caller.ts';
import { isObject } from '../is-object.ts';
import { succeeded, valueOf } from './caller.ts';
import type { Credential } from './credentials.ts';
import { foreignIn } from './markers.ts';
import type { Notebook } from './notebook.ts';
import type { Operation } from './operations.ts';

/** State that the steps of a probe share. */
export interface Probe {
  readonly caller: Caller;
  readonly notebook: Notebook;
  readonly canaries: Canaries;
  readonly made: Made;
}

/** Calls an operation. Notes the keys, policies and invites that result, so that they are removed later. */
export async function ask(
  { caller, notebook, made }: Probe,
  operation: Operation,
  credential: Pick<Credential, 'bearer' | 'own'>,
  substitution: Substitution,
): Promise<Answer> {
  notebook.count(operation.name, 1);
  const call = buildCall(operation, credential.own, substitution);
  const answer = await caller.call({ ...call, bearer: credential.bearer });
  const body = succeeded(answer) ? valueOf(answer) : undefined;
  const key = madeKeyIn(body);
  if (key !== undefined && isObject(body)) {
    const { org_id: orgId, team_id: teamId } = body;
    made.keys.push({ ...key, orgId: String(orgId), teamId: typeof teamId === 'string' ? teamId : null });
  }
  if (isObject(body) && body['origin'] === 'store' && typeof body['name'] === 'string') made.policies.add(body['name']);
  const invite = inviteIn(body);
  if (invite !== undefined) made.invites.add(invite);
  return answer;
}

/** Searches an answer, headers included, for what the caller must not see. */
export function lookThrough(
  { notebook }: Probe,
  operation: Operation,
  credential: Credential,
  how: string,
  answer: Answer,
  sent: readonly string[] = [],
): void {
  const leak = leakIn(answer, credential, sent);
  if (leak !== undefined) notebook.find(operation.name, credential.name, `shows "${leak}" of another tenant, ${how}`);
}

function leakIn(answer: Answer, credential: Credential, sent: readonly string[]): string | undefined {
  const headers = answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const hidden = foreignIn(headers, credential.foreign);
  if (hidden !== undefined) return hidden;
  if (!succeeded(answer)) return foreignIn(answer.text, credential.foreign, sent);
  const value = valueOf(answer);
  const text = value === undefined ? answer.text : JSON.stringify(withoutAllowed(value, credential));
  return foreignIn(text, credential.foreign);
}
