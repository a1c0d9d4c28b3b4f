import type { Made, CanarySetup } from './canary-setup.ts';
import { makeCanaries } from './canaries.ts';
import { isObject } from '../is-object.ts';
import { Caller, succeeded, valueOf } from './caller.ts';
import { cleanUp } from './clean-up.ts';
import type { Credential } from './credentials.ts';
import { credentialsOf } from './credentials.ts';
import type { TenantReport } from './notebook.ts';
import { Notebook } from './notebook.ts';
import type { Operation } from './operations.ts';
import { operationsOf } from './operations.ts';
import { unknownNames } from './parameter-slots.ts';
import type { ProbeOptions } from './ports.ts';
import type { Probe } from './probe.ts';
import { noteChanges, takeSnapshot } from './snapshot.ts';
import { tryAgents } from './try-agents.ts';
import { tryClaims } from './try-claims.ts';
import { tryNone } from './try-none.ts';
import { tryOwn } from './try-own.ts';
import { tryPages } from './try-pages.ts';
import { isRegistration, tryRegistration } from './try-registration.ts';
import { tryUnbound } from './try-unbound.ts';
import { tryWhole } from './try-whole.ts';

/**
 * Tests whether tenants of a gateway can see or touch each other. It makes two canary tenants, calls every operation of
 * the OpenAPI document as one of them with the ids of both, and holds each answer to the operation's tenancy. It
 * touches no other tenant, and removes the canaries. Their entries stay in the audit log.
 */
export async function probeTenants(options: ProbeOptions): Promise<TenantReport> {
  const caller = new Caller(options);
  const notebook = new Notebook();
  const made: Made = { keys: [], agents: [], policies: new Set(), invites: new Set() };
  const { adminCredential, agents } = options;
  const setup: CanarySetup = { caller, adminCredential, agents, made };
  await requireUnboundAdmin(setup);
  const operations = await readOperations(caller);
  for (const { name } of operations) notebook.count(name, 0);
  let credentials: readonly Credential[] = [];
  try {
    const canaries = await makeCanaries(setup);
    const { org, one } = canaries.a.keys;
    credentials = credentialsOf(canaries, {
      org: await exchange(caller, org.admin.key),
      one: await exchange(caller, one.admin.key),
    });
    await tryAll({ caller, notebook, canaries, made }, operations, credentials, options);
  } finally {
    for (const left of await cleanUp(setup)) notebook.find('clean-up', 'admin', left);
  }
  const { findings, operations: tried, comparisons } = notebook;
  return {
    findings,
    tried: { operations: tried, credentials: credentials.length, comparisons, calls: caller.calls },
  };
}

async function tryAll(
  probe: Probe,
  operations: readonly Operation[],
  credentials: readonly Credential[],
  { agents }: ProbeOptions,
): Promise<void> {
  const known = operations.filter((operation) => isKnown(probe, operation));
  const before = await takeSnapshot(probe, known);
  for (const operation of inOrder(known)) {
    for (const credential of credentials) await tryOperation(probe, operation, credential);
  }
  for (const credential of credentials) await tryAgents(probe, agents, credential);
  noteChanges(probe, before, await takeSnapshot(probe, known));
}

/**
 * A run belongs to nobody: each tenant may hold any, for itself, and the list of these controls then has its name. The
 * probe reads that list before it leaves such names there. An invite is sent again before it is revoked.
 */
function inOrder(operations: readonly Operation[]): readonly Operation[] {
  const isFirst = ({ path }: Operation) => path === '/api/v1/runs/controls' || path.endsWith('/resend');
  return [...operations.filter(isFirst), ...operations.filter((operation) => !isFirst(operation))];
}

async function tryOperation(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  switch (operation.tenancy) {
    case 'own':
      if (isRegistration(operation)) return tryRegistration(probe, operation, credential);
      if (!(await tryOwn(probe, operation, credential))) return;
      await tryPages(probe, operation, credential);
      await tryClaims(probe, operation, credential);
      await tryWhole(probe, operation, credential);
      break;
    case 'unbound':
    case 'person':
      await tryUnbound(probe, operation, credential);
      break;
    default:
      await tryNone(probe, operation, credential);
  }
}

const knownTenancies = ['own', 'unbound', 'person', 'none'];

/** An operation without a rule, or with an unknown name, cannot be tried. That is a finding itself. */
function isKnown({ notebook }: Probe, operation: Operation): boolean {
  const { name, tenancy } = operation;
  if (tenancy === undefined) {
    notebook.find(name, '-', 'has no x-reeve-tenancy: nobody has decided what a tenant sees here');
    return false;
  }
  if (!knownTenancies.some((known) => known === tenancy)) {
    notebook.find(name, '-', `has an x-reeve-tenancy that is not known: ${JSON.stringify(tenancy)}`);
    return false;
  }
  const unknown = tenancy === 'own' ? unknownNames(operation) : [];
  for (const part of unknown) notebook.find(name, '-', `takes "${part}", and the probe does not know what that names`);
  return unknown.length === 0;
}

async function requireUnboundAdmin({ caller, adminCredential: bearer }: CanarySetup): Promise<void> {
  const answer = await caller.callRoute('me', bearer, {});
  const me = valueOf(answer);
  if (!succeeded(answer) || !isObject(me))
    throw new Error(`the credential was refused: ${answer.status} ${answer.text}`);
  const { scopes, org_id: orgId } = me;
  const isAdmin = Array.isArray(scopes) && scopes.includes('admin');
  if (!isAdmin || orgId !== null) throw new Error('the tenant probe needs a credential with admin scope and no tenant');
}

async function readOperations(caller: Caller): Promise<Operation[]> {
  const answer = await caller.callRoute('openapi', undefined, {});
  const operations = succeeded(answer) ? operationsOf(valueOf(answer)) : [];
  if (operations.length === 0) throw new Error(`there are no operations in /openapi.json: ${answer.status}`);
  return operations;
}

async function exchange(caller: Caller, bearer: string): Promise<string> {
  const answer = await caller.callRoute('exchangeToken', bearer, {});
  const body = succeeded(answer) ? valueOf(answer) : undefined;
  if (isObject(body) && typeof body['token'] === 'string') return body['token'];
  throw new Error(`cannot exchange the key of a canary: ${answer.status} ${answer.text}`);
}
