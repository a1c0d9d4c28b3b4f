// The standing campaign: npm run trust -- --help
import { spawnSync } from 'node:child_process';
import { helpText, readOptions } from './options.ts';
import type { TrustOptions } from './options.ts';
import type { Part } from './part.ts';
import { parts } from './parts.ts';
import type { PartResult } from './report.ts';
import { writeReport } from './report.ts';

const names = parts.map(({ name }) => name);
// Every started process ends with this one: see end-with-us.ts.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));
// Shared servers and lingering sockets do not keep the process alive.
process.exit();

async function main(args: readonly string[]): Promise<number> {
  let options: TrustOptions | undefined;
  try {
    options = readOptions(args, names);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}; --help says more\n`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(helpText(names));
    return 0;
  }
  const results = await runParts(options);
  if (options.report !== undefined) writeReport(options.report, results, parts);
  const found = results.filter(({ findings }) => findings.length > 0);
  say(found.length === 0 ? 'nothing found' : `found: ${found.map(({ part }) => part).join(', ')}`);
  return found.length === 0 ? 0 : 1;
}

async function runParts({ minutes, only, seed }: TrustOptions): Promise<PartResult[]> {
  const chosen = parts.filter(({ name }) => only.length === 0 || only.includes(name));
  const endsAt = performance.now() + minutes * 60_000;
  const results: PartResult[] = [];
  for (const [nth, part] of chosen.entries()) {
    const ahead = chosen.slice(nth).reduce((sum, { share }) => sum + share, 0);
    const left = Math.max(0, endsAt - performance.now());
    results.push(await runPart(part, seed, (left * part.share) / ahead));
  }
  return results;
}

async function runPart(part: Part, seed: number, ms: number): Promise<PartResult> {
  const { name, holds, most } = part;
  say(`${name}: ${(ms / 60_000).toFixed(1)} minutes, seed ${seed}`);
  const start = performance.now();
  const at = new Date().toISOString();
  const limits = { seed, most, endsAt: start + ms, say: (line: string) => say(`${name}: ${line}`) };
  const outcome = await part.run(limits).catch((error: unknown) => ({
    counts: {},
    findings: [`the part itself failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`],
    notRun: [],
  }));
  const seconds = Math.round((performance.now() - start) / 1000);
  for (const finding of outcome.findings) {
    say(`FOUND by ${name}: ${finding}\nagain: npm run trust -- --only ${name} --seed ${seed}`);
  }
  for (const line of outcome.notRun) say(`${name}: not run: ${line}`);
  say(`${name}: ${JSON.stringify(outcome.counts)}, ${outcome.findings.length} findings, ${seconds} s`);
  return { part: name, holds, seed, at, seconds, commit: commitOf(), ...outcome };
}

function commitOf(): string {
  return spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
}

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
