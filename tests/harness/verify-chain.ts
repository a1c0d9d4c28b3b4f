import { spawnSync } from 'node:child_process';

/** Runs the independent verifier over a data folder; returns what it says and whether it accepts. */
export function verifyChain(folder: string): { accepted: boolean; says: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['tests/chaos/verify-chain.mjs', folder], {
    encoding: 'utf8',
  });
  return { accepted: status === 0, says: (stdout + stderr).trim() };
}
