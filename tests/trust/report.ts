import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Outcome, Part } from './part.ts';

/** The result of one part in one run. */
export interface PartResult extends Outcome {
  readonly part: string;
  readonly holds: string;
  readonly seed: number;
  readonly at: string;
  readonly seconds: number;
  readonly commit: string;
}

const page = 'docs/trust.md';
const begin = '<!-- results: npm run trust -- --report docs/trust-results.json -->';
const end = '<!-- end of results -->';

/** Writes results as JSON, keeps the last results of parts that did not run, and writes the table of all. */
export function writeReport(file: string, results: readonly PartResult[], parts: readonly Part[]): void {
  const earlier = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PartResult[]) : [];
  const all = parts.flatMap(({ name }) => {
    const isIt = ({ part }: PartResult) => part === name;
    return results.find(isIt) ?? earlier.find(isIt) ?? [];
  });
  writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`);
  if (existsSync(page)) writeFileSync(page, withTable(readFileSync(page, 'utf8'), tableOf(all)));
  spawnSync('node_modules/.bin/biome', ['format', '--write', file, page]);
}

/** The page with the table between its markers. */
export function withTable(text: string, table: string): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} has no place for the table: ${begin}`);
  return `${before}${begin}\n\n${table}\n${end}${after}`;
}

export function tableOf(results: readonly PartResult[]): string {
  const rows = results.map(({ part, holds, at, seconds, seed, counts, findings, notRun, commit }) => [
    part,
    holds,
    Object.entries(counts)
      .map(([name, count]) => `${count.toLocaleString('en')} ${name}`)
      .join(', '),
    findings.length === 0 ? 'nothing found' : `**${findings.length} found**`,
    notRun.join('; '),
    `${at.slice(0, 16).replace('T', ' ')}, ${minutesOf(seconds)}, seed ${seed}, ${commit}`,
  ]);
  const head = ['Part', 'What must hold', 'What was tried', 'Result', 'Not run', 'When (UTC)'];
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`);
  return `${lines.join('\n')}\n`;
}

function minutesOf(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
