import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleSdk } from '../scripts/bundle-sdk.ts';
import { trackFolder } from './children.ts';
import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';

/** Milliseconds from start to end. */
export interface SdkStart {
  readonly node: Spread;
  readonly sdk: Spread;
  /** Within each round. */
  readonly overNode: Spread;
}

const warmups = 3;

/** What it takes to load the SDK as it is published, in turn with a Node that does nothing. */
export async function measureSdkStart(rounds: number): Promise<SdkStart> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-'));
  const removeFolder = trackFolder(folder);
  const file = join(folder, 'index.js');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  await bundleSdk(folder);
  const samples: { node: number; sdk: number }[] = [];
  for (let round = -warmups; round < rounds; round++) {
    const sample = { node: time(['-e', '0']), sdk: time([file]) };
    if (round >= 0) samples.push(sample);
  }
  removeFolder();
  return {
    node: spreadOf(samples.map(({ node }) => node)),
    sdk: spreadOf(samples.map(({ sdk }) => sdk)),
    overNode: spreadOf(samples.map(({ node, sdk }) => sdk / node)),
  };
}

function time(args: readonly string[]): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const took = performance.now() - started;
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
  return took;
}
