import type { Effect, PolicyDocument } from './document.ts';
import type { CompiledRule } from './rule-index.ts';
import { RuleIndex } from './rule-index.ts';

/** Some documents of a scope, one after the other, with an index of their rules. */
export interface RuleChunk {
  readonly documents: readonly PolicyDocument[];
  readonly size: number;
  readonly rules: RuleIndex;
}

/** An index of more rules would take too long to make anew when one document changes. */
const mostRules = 3000;
/** One of fewer is put together with what stands beside it, as each costs a look-up. */
const fewRules = 500;

/**
 * The documents of a scope in chunks. Those that are as before are taken over, so that a change of one document costs as
 * much as its chunk, however many others there are.
 */
export function chunksOf(documents: readonly PolicyDocument[], before: readonly RuleChunk[] = []): RuleChunk[] {
  const starts = new Map(before.map((chunk) => [chunk.documents[0], chunk]));
  const chunks: RuleChunk[] = [];
  let fresh: PolicyDocument[] = [];
  let size = 0;
  const close = () => {
    if (fresh.length > 0) chunks.push(unchanged(fresh, starts) ?? chunkOf(fresh, size));
    fresh = [];
    size = 0;
  };
  for (let at = 0; at < documents.length; ) {
    const document = documents[at];
    if (document === undefined) break;
    const known = starts.get(document);
    const isSame = known?.documents.every((each, place) => each === documents[at + place]) === true;
    const standsAlone = size === 0 || size >= fewRules || size + (known?.size ?? 0) > mostRules;
    if (known !== undefined && isSame && known.size >= fewRules && standsAlone) {
      close();
      chunks.push(known);
      at += known.documents.length;
      continue;
    }
    if (size + document.rules.length > mostRules) close();
    fresh.push(document);
    size += document.rules.length;
    at++;
  }
  close();
  return chunks;
}

function unchanged(
  documents: readonly PolicyDocument[],
  starts: ReadonlyMap<PolicyDocument | undefined, RuleChunk>,
): RuleChunk | undefined {
  const known = starts.get(documents[0]);
  const isSame =
    known?.documents.length === documents.length && known.documents.every((each, at) => each === documents[at]);
  return isSame ? known : undefined;
}

function chunkOf(documents: readonly PolicyDocument[], size: number): RuleChunk {
  let order = 0;
  const rules = documents.flatMap((document) =>
    document.rules.map((rule): CompiledRule => {
      const id = `${document.name}/${rule.name}`;
      const reason = `${saying[rule.effect]} rule ${id}`;
      return { order: order++, id, effect: rule.effect, reason, rule, document };
    }),
  );
  return { documents, size, rules: new RuleIndex(rules) };
}

const saying: Readonly<Record<Effect, string>> = {
  allow: 'allowed by',
  deny: 'denied by',
  require_approval: 'approval required by',
};
