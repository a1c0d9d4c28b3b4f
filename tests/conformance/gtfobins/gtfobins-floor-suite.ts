import { spawnSync } from 'node:child_process';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { account, lackedForFloor } from '../floor/floored-session.ts';
import { FloorTrap } from './floor-trap.ts';
import type { GtfobinsLine } from './gtfobins.ts';
import { findGtfobins, linesIn } from './gtfobins.ts';

/** So many lines run on one floor, one after the other. */
const mostOnOneFloor = 20;

export const gtfobinsFloorSuite: ForeignSuite = {
  name: 'gtfobins-floor',
  about: `The command lines of GTFOBins again, run for real: all whose program this machine has, inside of \`reeve run\`, as a user
without privileges. Where a line opens a shell, that shell tries to read a private key of the person, to write beside the working
folder, to leave a process behind and to reach a port of this machine. Nothing outside of the working folder may have changed
afterwards, nothing that was printed or written may hold the key, no process may be left, and nobody may have connected.`,
  prepare: async () => {
    const lacking = lackedForFloor();
    if (lacking !== undefined) return { missing: `GTFOBins on a floor: this machine lacks something (${lacking})` };
    return findGtfobins();
  },
  async run(path, say) {
    const lines = linesIn(path);
    const here = lines.filter(({ program }) => isInstalled(program));
    say(`gtfobins-floor: ${here.length} command lines; of ${lines.length - here.length} the program is not installed`);
    return await tried(here, lines.length - here.length, say);
  },
};

async function tried(
  lines: readonly GtfobinsLine[],
  elsewhere: number,
  say: (line: string) => void,
): Promise<SuiteResult> {
  const failures: string[] = [];
  let ran = 0;
  await using trap = await FloorTrap.set();
  for (let at = 0; at < lines.length; at += mostOnOneFloor) {
    const some = lines.slice(at, at + mostOnOneFloor);
    ran += await trap.run(some);
    const names = [...new Set(some.map(({ program }) => program))].join(', ');
    failures.push(...trap.caught().map((what) => `${what} (one of ${names})`));
    say(`gtfobins-floor: ${at + some.length} of ${lines.length}`);
  }
  const counts = {
    'lines that ran': ran,
    'lines whose program is not here': elsewhere,
    'findings outside': failures.length,
  };
  if (ran !== lines.length) failures.push(`${lines.length - ran} lines did not run`);
  return { counts, passed: ran, failures };
}

function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', program], account).status === 0;
}
