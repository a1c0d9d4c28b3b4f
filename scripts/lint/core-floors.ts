import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Imports that lint refuses, and what to do instead. */
export interface Refusal {
  readonly group?: string[];
  readonly regex?: string;
  readonly message: string;
}

/** The floors of the core, from the ground up. A folder uses the floors below its own. */
const floors = [
  'kernel',
  'audit',
  'journal',
  'access',
  'tenancy',
  'action',
  'budget',
  'runs',
  'policy',
  'ops',
  'control',
  'approvals',
  'decision',
  'simulation',
] as const;

type Floor = (typeof floors)[number];

/** What a folder uses that stands beside the floors, or does not use all floors below it, or uses more. */
const usesInstead: Readonly<Record<string, readonly string[]>> = {
  mail: ['kernel', 'access'],
  accounts: [...upTo('access'), 'mail'],
  logs: upTo('access'),
  action: ['kernel', 'audit'],
  policy: [...upTo('runs'), 'masking'],
  decision: [...upTo('approvals'), 'masking'],
  masking: ['kernel', 'audit', 'action'],
  simulation: [...upTo('decision'), 'logs'],
};

/** These stand above `store.ts` and use every folder. `testkit` is for tests, which no rule holds. */
const onTop = new Set(['events', 'memory', 'replication', 'testkit']);

const root = 'packages/core/src';
const entries = readdirSync(join(import.meta.dirname, '../..', root), { withFileTypes: true });
const folders = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const topFiles = entries.flatMap(({ name }) => (name.endsWith('.ts') && !name.endsWith('.test.ts') ? [name] : []));

const noInputOrOutput: readonly Refusal[] = [
  {
    group: ['node:*'],
    message: 'The core does no I/O: declare a port in the core and implement it in packages/gateway/src/adapters.',
  },
  {
    group: ['@reeve/*'],
    message: 'The core depends on no other package: move what both need into the core, or pass it in.',
  },
];

function upTo(floor: Floor): readonly string[] {
  return floors.slice(0, floors.indexOf(floor) + 1);
}

/** For each folder, and for the rest of the core, which imports lint refuses there. */
export function coreRestrictions(): readonly { readonly files: string; readonly patterns: Refusal[] }[] {
  const uses = new Map<string, readonly string[]>([
    ...floors.map((floor, index) => [floor, floors.slice(0, index)] as const),
    ...Object.entries(usesInstead),
  ]);
  const missing = folders.filter((folder) => !uses.has(folder) && !onTop.has(folder));
  if (missing.length > 0) throw new Error(`these folders of the core have no floor: ${missing.join(', ')}`);
  return [
    { files: `${root}/**`, patterns: [...noInputOrOutput, pastDoor('(\\./|(\\.\\./)+)', folders)] },
    ...[...uses].map(([folder, used]) => ({
      files: `${root}/${folder}/**`,
      patterns: [...noInputOrOutput, upward(folder, used), pastDoor('(\\.\\./)+', without(folders, [folder]))],
    })),
  ];
}

function upward(folder: string, used: readonly string[]): Refusal {
  const refused = without(folders, [folder, ...used]).join('|');
  const files = topFiles.join('|').replaceAll('.', '\\.');
  return {
    regex: `^(\\.\\./)+((${refused})/|(${files})$)`,
    message:
      used.length === 0
        ? `${folder} is the ground floor and uses no other folder: move what both need into ${folder}, or pass it in.`
        : `${folder} uses only the floors below it (${used.join(', ')}): announce what happened and let the floor above ` +
          `react (governance.ts), or name the port that ${folder} needs and let the floor above implement it.`,
  };
}

/** The engine of the linter has no lookahead, so the pattern spells out what does not begin like "index". */
function pastDoor(up: string, of: readonly string[]): Refusal {
  return {
    regex: `^${up}(${of.join('|')})/([^i]|i[^n]|in[^d]|ind[^e])`,
    message:
      "Come in through the folder's door: import from its index.ts. If the name is not there and others are meant to use " +
      'it, export it there.',
  };
}

function without(all: readonly string[], some: readonly string[]): readonly string[] {
  return all.filter((one) => !some.includes(one));
}
