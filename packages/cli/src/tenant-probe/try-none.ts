import { buildCall, nothingElse } from './build-call.ts';
import type { Credential } from './credentials.ts';
import { foreignIn, namedIn } from './markers.ts';
import type { Operation } from './operations.ts';
import type { Probe } from './probe.ts';

/** Tries an operation that holds no data of tenants. No canary may show, with or without a credential. */
export async function tryNone(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const { caller, notebook, canaries } = probe;
  const anyTenant = { prefixes: [canaries.run], exact: [], values: [] };
  for (const bearer of [undefined, credential.bearer]) {
    notebook.count(operation.name, 1);
    const answer = await caller.call({ ...buildCall(operation, credential.own, nothingElse), bearer });
    const shown = [...answer.headers.map(([name, value]) => `${name}: ${value}`), answer.text].join('\n');
    // The encoded claims of a token name its owner. They must not name others.
    const leak = namedIn(shown, anyTenant) ?? foreignIn(shown, credential.foreign);
    const who = bearer === undefined ? 'no credential' : credential.name;
    if (leak !== undefined) notebook.find(operation.name, who, `shows "${leak}", where nothing of any tenant belongs`);
  }
}
