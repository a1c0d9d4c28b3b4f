import { canonicalJson, draftOf, system } from '../audit/index.ts';
import type { Undo } from '../journal/index.ts';
import { ownWork } from '../journal/index.ts';
import type { Sha256 } from '../kernel/index.ts';
import type { PolicyFeatures } from './condition.ts';
import type { PolicyProblem, PolicyDocument } from './document.ts';
import { describeProblem, authorOf } from './document.ts';
import { problemsOf } from './parse-policies.ts';
import type { PolicySource, ParsedSource } from './parse-source.ts';
import type { Policies, PoliciesState } from './policies.ts';
import { PolicySet, policyVersion } from './policy-set.ts';
import type { PolicySources } from './store/in-force.ts';

/**
 * Puts the policies of the files in force, all at once and together with the stored ones. If any file has a problem,
 * the old policies stay in force and the failure is recorded. Resolves with the problems once that is durable. Stored
 * documents never hold files back: `inForce` decides what becomes of them.
 */
export async function loadPolicies(
  gov: PoliciesState,
  files: readonly PolicySource[],
  features: PolicyFeatures = gov.policyRegistry.features,
): Promise<readonly PolicyProblem[]> {
  const { policyRegistry } = gov;
  if (policyRegistry.reader !== undefined) await policyRegistry.prepareFiles(files);
  const parsed = policyRegistry.parseFiles(files, features);
  const problems = problemsOf(parsed);
  if (problems.length > 0) {
    await rejectPolicies(gov, problems);
    return problems;
  }

  return await gov.journal.turn(ownWork, () => {
    const at = gov.clock.now();
    const before = gov.policies.version;
    // Files are this gateway's own. No fact of the log has them, so nobody follows them, and no start restores them.
    gov.journal.applyLocally(() => putInForce(gov, { files: parsed, stored: policyRegistry.sources.stored }));
    rememberSet(gov, before);
    const { version, documents } = gov.policies;
    const setAside = policyRegistry.inForce.setAside.map(({ problem }) => describeProblem(problem));
    const payload = canonicalJson({
      documents: documents.map(({ name }) => name),
      previous_version: before,
      ...(setAside.length === 0 ? {} : { set_aside: setAside.slice(0, 20) }),
    });
    gov.journal.record(draftOf({ at, eventType: 'PolicyReloaded', actor: system, policyVersion: version, payload }));
    gov.journal.apply({ type: 'policy', at, version, error: null, document: null });
    return [];
  });
}

/** Records that the sources could not be put in force. The old policies stay. */
export async function rejectPolicies(gov: Policies, problems: readonly PolicyProblem[]): Promise<void> {
  const at = gov.clock.now();
  const described = problems.slice(0, 20).map(describeProblem);
  const error = described[0] ?? '';
  const payload = canonicalJson({ problems: described });
  await gov.journal.turn(ownWork, () => {
    gov.journal.record(draftOf({ at, eventType: 'PolicyReloadFailed', actor: system, reason: error, payload }));
    gov.journal.apply({ type: 'policy', at, version: gov.policies.version, error, document: null });
  });
}

/** Remembers the policies in force as a set, if they are others than before. */
export function rememberSet(gov: Policies, before: string): void {
  const { version } = gov.policies;
  if (version === before) return;
  const sources = gov.policyRegistry.inForce.sources.map((each) => ({
    ...each.source,
    hash: hashOf(gov.sha256, each),
  }));
  gov.journal.apply({ kind: 'policy_set_saved', set: { version, at: gov.clock.now(), sources } });
}

/** Puts sources in force, all at once, in memory. Their files must have no problems. */
export function putInForce(gov: PoliciesState, sources: PolicySources): Undo {
  const { policies: before, policyRegistry } = gov;
  const { sources: sourcesBefore } = policyRegistry;
  compose(gov, sources);
  return () => {
    if (policyRegistry.sources === sources) {
      gov.policies = before;
      gov.ledger.policy = before.budgets;
      policyRegistry.sources = sourcesBefore;
      // Another gateway may have stored documents in the meantime. They stay.
    } else compose(gov, without(policyRegistry.sources, sources, sourcesBefore));
  };
}

/** The sources as they are now, but for what came in with `added`. */
function without(now: PolicySources, added: PolicySources, before: PolicySources): PolicySources {
  const stored = new Map(now.stored);
  for (const [name, kept] of added.stored) {
    const old = before.stored.get(name);
    if (kept === old || stored.get(name) !== kept) continue;
    if (old === undefined) stored.delete(name);
    else stored.set(name, old);
  }
  return { files: now.files === added.files ? before.files : now.files, stored };
}

function compose(gov: PoliciesState, sources: PolicySources): void {
  const { policies: before, policyRegistry } = gov;
  policyRegistry.sources = sources;
  const { sources: parsed, setAside } = policyRegistry.inForce;
  const documents = parsed.flatMap((each) => each.documents.map(({ document }) => document));
  const names = documents.map((document) => document.name);
  const texts = parsed.map((each) => hashOf(gov.sha256, each));
  // A document without a name takes that of its file, so the same text in another file is another policy.
  const asides = setAside.map(({ name }) => `set aside: ${name}`);
  const version = policyVersion(gov.sha256, [...texts, ...names, ...asides, ...documents.flatMap(authorBesideName)]);
  gov.policies = new PolicySet(documents, version, before);
  gov.ledger.policy = gov.policies.budgets;
}

/** A document's name mostly tells whose it is. If it does not, the same text by another author has other caps. */
function authorBesideName({ name, author }: PolicyDocument): string[] {
  return author === undefined || authorOf({ name }) === author ? [] : [`by ${author}: ${name}`];
}

/** Keeps the hash of every source in force, so that a change hashes only the new ones. */
const hashes = new WeakMap<ParsedSource, string>();

function hashOf(sha256: Sha256, parsed: ParsedSource): string {
  const known = hashes.get(parsed) ?? sha256(parsed.source.text);
  hashes.set(parsed, known);
  return known;
}
