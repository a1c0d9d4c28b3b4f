import { detectorNames, maskResult, usualMask } from '@reeve/core';
import type { ConditionsRow } from './conditions.ts';
import { conditionsTable, measureSets } from './conditions.ts';
import type { Cores } from './cores.ts';
import type { Pace } from './options.ts';
import type { Spread } from './statistics.ts';
import { spreadOf, sum } from './statistics.ts';
import { count, fixed, ratio, textTable } from './table.ts';

/** What all detectors take for a text, beside reading it as JSON. */
export interface DetectorsRow {
  readonly text: string;
  readonly found: number;
  /** CPU of this process. */
  readonly millis: Spread;
  readonly toParse: Spread;
}

export interface LabelResults {
  readonly decisions: readonly ConditionsRow[];
  readonly detectors: readonly DetectorsRow[];
}

const borne = Array.from({ length: 8 }, (_, at) => `label-${at}`);

/** The run of the load bears eight labels from its first check on. Two rules ask for others, and let the load pass. */
const labelling = `
name: labels
rules:
  - { name: marks, effect: allow, tools: ["search.*"], labels: [${borne.join(', ')}] }
  - { name: no-secrets, effect: deny, tools: ["search.*"], when: '"secret" in run.labels' }
  - { name: both, effect: deny, tools: ["search.*"], when: '"label-0" in run.labels && "personal" in run.labels' }
`;

/** As many rules and conditions, which have nothing to do with labels. */
const equal = `
name: labels
rules:
  - { name: marks, effect: allow, tools: ["search.*"] }
  - { name: no-secrets, effect: deny, tools: ["search.*"], when: 'agent.team_id == "secret"' }
  - { name: both, effect: deny, tools: ["search.*"], when: 'agent.team_id != "secret" && agent.org_id == "personal"' }
`;

const sets = [
  { name: 'the same again', policies: {} },
  { name: 'equal conditions, no labels', policies: { 'labels.yaml': equal } },
  { name: 'labels given and read', policies: { 'labels.yaml': labelling } },
];

/** Decisions that give and read labels, beside those that do not; and detectors, beside the reading of JSON. */
export async function measureLabels(cores: Cores, pace: Pace, tell: (line: string) => void): Promise<LabelResults> {
  const detectors = Object.entries(texts).map(([name, text]) => {
    tell(`all detectors, ${name} …`);
    return detectorsRow(name, text, pace.rounds);
  });
  return { decisions: await measureSets(sets, cores, pace, tell), detectors };
}

const megabyte = 1_000_000;

function jsonOf(item: (nth: number) => unknown): string {
  const items: unknown[] = [];
  for (let length = 0, nth = 0; length < megabyte; nth++) {
    const made = item(nth);
    items.push(made);
    length += JSON.stringify(made).length + 1;
  }
  return JSON.stringify(items);
}

const prose = 'The five largest suppliers sold more in the third quarter than in the two before, as the report shows. ';

/** About as large as each other: words, a table of numbers, and records of people. */
const texts: Readonly<Record<string, string>> = {
  '1 MB of prose': jsonOf((nth) => `${nth}: ${prose.repeat(8)}`),
  '1 MB of numbers': jsonOf((nth) => ({
    id: nth,
    at: 1_700_000_000_000 + nth * 977,
    price: nth * 1.37,
    code: `A-${nth}`,
  })),
  '1 MB of people': jsonOf((nth) => ({
    name: `Person ${nth}`,
    mail: `person.${nth}@people.example`,
    phone: `+49 30 ${1_000_000 + nth}`,
    card: '4111 1111 1111 1111',
    address: `10.${nth % 250}.0.1`,
    note: prose,
  })),
};

/** How often a text is looked through in a round: a single time is too short to tell. */
const times = 5;

function detectorsRow(name: string, text: string, rounds: number): DetectorsRow {
  const mask = { detect: detectorNames, patterns: [], fields: [], with: usualMask };
  const judge = () => maskResult(text, [mask]);
  const parse = () => JSON.parse(text) as unknown;
  const pairs: { readonly judged: number; readonly parsed: number }[] = [];
  for (let round = -1; round < rounds; round++) {
    const pair = { judged: cpuMillis(judge), parsed: cpuMillis(parse) };
    if (round >= 0) pairs.push(pair);
  }
  const masked = judge();
  const counts = typeof masked === 'object' ? Object.values(masked.counts) : [];
  return {
    text: name,
    found: sum(counts),
    millis: spreadOf(pairs.map(({ judged }) => judged)),
    toParse: spreadOf(pairs.map(({ judged, parsed }) => judged / parsed)),
  };
}

function cpuMillis(work: () => unknown): number {
  const started = process.cpuUsage();
  for (let time = 0; time < times; time++) work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000 / times;
}

export function labelsTable({ decisions, detectors }: LabelResults): string {
  const header = ['text', 'found', 'CPU over JSON.parse', 'CPU ms'];
  const body = detectors.map(({ text, found, millis, toParse }) => [
    text,
    count(found),
    ratio(toParse),
    `${fixed(millis.median)} (${fixed(millis.least)}–${fixed(millis.most)})`,
  ]);
  return [conditionsTable(decisions), '', textTable(header, body)].join('\n');
}
