import { spawnSync } from 'node:child_process';
import { databaseOf } from './databases.ts';

/** Runs the independent verifier over a gateway's store. Returns its output and its verdict. */
export function verifyChain(folder: string): { accepted: boolean; says: string } {
  const url = databaseOf(folder);
  const args = ['tests/chaos/verify-chain.mjs', ...(url === undefined ? [folder] : [])];
  const env = { ...process.env, ...(url === undefined ? {} : { DATABASE_URL: url }) };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  return { accepted: status === 0, says: (stdout + stderr).trim() };
}
