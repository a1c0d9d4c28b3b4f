import type { ForeignSuite } from '../foreign-suite.ts';
import { codingAgents, findAgent } from '../hooks/coding-agents.ts';
import { whyOf } from '../tools.ts';
import { FlooredSession, lackedForFloor } from './floored-session.ts';
import type { Trial } from './floor-trials.ts';
import { trials } from './floor-trials.ts';

const host = codingAgents[0];

/** A real coding agent on a floor. */
export const floorSuite: ForeignSuite = {
  name: 'floor',
  about: `Sessions of Claude Code, as its makers publish it, inside of \`reeve run\`, as a user without privileges, with the hooks that
\`reeve hook install\` writes. A scripted model on loopback drives it, which it reaches through the floor's proxy. It works in its
folder; what is denied does not happen, nor does anything outside; PAUSE freezes it and TERMINATE ends it, with the kernel's word.`,
  prepare: async (say) => {
    if (host === undefined) return { missing: 'there is no coding agent to be run' };
    const lacking = lackedForFloor();
    if (lacking !== undefined)
      return { missing: `a coding agent on a floor: this machine lacks something (${lacking})` };
    return findAgent(host, say);
  },
  run: async (path, say) => {
    const failures: string[] = [];
    for (const { name, command, judge } of trials) {
      const failure = await tried(path, command, judge);
      if (failure !== undefined) failures.push(`${name} (${failure})`);
      else say(`ok   floor: ${name}`);
    }
    const passed = trials.length - failures.length;
    return { counts: { 'trials that passed': passed, 'trials that failed': failures.length }, passed, failures };
  },
};

async function tried(path: string, command: string, judge: Trial['judge']): Promise<string | undefined> {
  try {
    await using session = await FlooredSession.start(path, command);
    return await judge(session);
  } catch (error) {
    return whyOf(error);
  }
}
