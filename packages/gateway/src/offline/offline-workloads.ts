import type { PolicyProblem, TrustedIssuer, WorkloadIssuer } from '@reeve/core';
import { matchWorkload } from '@reeve/core';
import { sha256 } from '../adapters/crypto/node-crypto.ts';
import { IssuersFile } from '../adapters/issuers/issuers-file.ts';
import { KeyPlaces } from '../adapters/issuers/key-places.ts';
import { workloadForm } from '../adapters/issuers/workload-form.ts';
import { systemClock } from '../adapters/system/system-clock.ts';

/** What one entry of a file of workloads says of a token. */
export interface ExplainedEntry {
  readonly issuer: string;
  /** As `org/team/agent`; null if the entry does not match. */
  readonly agent: string | null;
  /** Why it does not match. */
  readonly why: string;
  readonly registers: boolean;
  readonly expiresAt: number | null;
}

export interface ExplainedWorkload {
  readonly problems: readonly PolicyProblem[];
  /** In the order of the file. The first with an agent counts. */
  readonly entries: readonly ExplainedEntry[];
}

/** Asks each entry about a token, without a gateway. The gateway's own code verifies and matches, so both agree. */
export async function explainWorkload(path: string, token: string): Promise<ExplainedWorkload> {
  const places = new KeyPlaces({ elapsed: systemClock.elapsed, onChange: () => {} });
  const file = new IssuersFile(path, workloadForm, { clock: systemClock, sha256, places });
  try {
    const problems = await file.load();
    return { problems, entries: await Promise.all(file.trusted.map((entry) => explainEntry(entry, token))) };
  } finally {
    file.close();
  }
}

async function explainEntry(entry: TrustedIssuer<WorkloadIssuer>, token: string): Promise<ExplainedEntry> {
  const { issuer, registers } = entry.settings;
  const check = await entry.verifier.verify(token, 0);
  const none = { issuer, registers, agent: null, expiresAt: null };
  if (!check.ok) return { ...none, why: `the token ${check.why}` };
  const match = matchWorkload(entry.settings, check.claims);
  if (!match.ok) return { ...none, why: match.why };
  const { orgId, teamId, agentId } = match.agentId;
  const agent = `${orgId || '-'}/${teamId || '-'}/${agentId}`;
  return { issuer, registers, agent, expiresAt: check.expiresAt, why: '' };
}
