import type { Policies } from './policies.ts';
import type { Sha256 } from '../kernel/ports.ts';
import type { PolicyDocument } from './document.ts';
import { authorOf } from './document-name.ts';
import type { ParsedSource } from './parsed-source.ts';
import { PolicySet, policyVersion } from './policy-set.ts';
import type { PolicySources } from './store/in-force.ts';

/**
 * Puts sources in force, the files of which have no problems, all of them at once, and remembers them as a set. Whatever the journal cannot
 * make durable is taken back.
 */
export function putInForce(gov: Policies, sources: PolicySources): void {
  const { policies: before, policyRegistry } = gov;
  const { sources: sourcesBefore } = policyRegistry;
  policyRegistry.sources = sources;
  const { sources: parsed, setAside } = policyRegistry.inForce;
  const documents = parsed.flatMap((each) => each.documents.map(({ document }) => document));
  const names = documents.map((document) => document.name);
  const texts = parsed.map((each) => hashOf(gov.sha256, each));
  // A document without a name has that of its file: the same text under another name is another policy.
  const asides = setAside.map(({ name }) => `set aside: ${name}`);
  const version = policyVersion(gov.sha256, [...texts, ...names, ...asides, ...documents.flatMap(authorBesideName)]);
  gov.policies = new PolicySet(documents, version, before);
  gov.ledger.policy = gov.policies.budgets;
  gov.journal.onFailure(() => {
    gov.policies = before;
    gov.ledger.policy = before.budgets;
    policyRegistry.sources = sourcesBefore;
  });
  if (version === before.version) return;
  gov.journal.write({
    kind: 'policy_set_saved',
    set: {
      version,
      at: gov.clock.now(),
      sources: parsed.map((each) => ({ ...each.source, hash: hashOf(gov.sha256, each) })),
    },
  });
}

/** Whose a document is mostly says its name. Where it does not, the same text of another author has other caps. */
function authorBesideName({ name, author }: PolicyDocument): string[] {
  return author === undefined || authorOf({ name }) === author ? [] : [`by ${author}: ${name}`];
}

/** All that is in force has its hash: with many documents, only those that are new are gone through. */
const hashes = new WeakMap<ParsedSource, string>();

function hashOf(sha256: Sha256, parsed: ParsedSource): string {
  const known = hashes.get(parsed) ?? sha256(parsed.source.text);
  hashes.set(parsed, known);
  return known;
}
