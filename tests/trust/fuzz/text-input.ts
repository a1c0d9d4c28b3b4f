import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { Chance } from '../chance.ts';
import { conditionText } from './condition-text.ts';
import { mutateText } from './mutate-text.ts';

export const textKinds = ['condition', 'policy', 'cases'] as const;
export type TextKind = (typeof textKinds)[number];

interface Corpus {
  readonly condition: readonly string[];
  readonly policy: readonly string[];
  readonly cases: readonly string[];
}

let corpus: Corpus | undefined;

/** The input of a kind for a seed and a number. */
export function textInput(kind: TextKind, seed: number, nth: number): string {
  const chance = new Chance(Math.imul(seed, 0x9e_37_79_b1) ^ Math.imul(nth + 1, 0x85_eb_ca_6b));
  corpus ??= readCorpus();
  if (kind === 'condition' && chance.happens(0.5)) return conditionText(chance);
  const texts = corpus[kind];
  return mutateText(chance, chance.oneOf(texts) ?? '', texts);
}

/** Valid or interestingly wrong texts to start from: the decision cases and the starter pack. */
function readCorpus(): Corpus {
  const caseFiles = [...filesOf('packages/core/cases'), ...filesOf('packages/cli/starter/.cases')];
  const groups = caseFiles.flatMap((text) => text.split(/^---$/m));
  const ofCases = caseFiles.flatMap((text) =>
    parseAllDocuments(text).flatMap((document) => {
      const { policies } = (document.toJS() ?? {}) as { policies?: Record<string, unknown> };
      return Object.values(policies ?? {}).filter((policy) => typeof policy === 'string');
    }),
  );
  const policy = [...ofCases, ...filesOf('packages/cli/starter')];
  const condition = policy.flatMap((text) =>
    [...text.matchAll(/when: (.+?)(?:,? *\}?)$/gm)].map(([, when]) => when ?? ''),
  );
  return { condition, policy, cases: groups };
}

function filesOf(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return names.toSorted().map((name) => readFileSync(join(folder, name), 'utf8'));
}
