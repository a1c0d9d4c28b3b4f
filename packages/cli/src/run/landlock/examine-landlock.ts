import type { Finding } from '../../doctor/finding.ts';
import { ok, warning } from '../../doctor/finding.ts';
import { firstWithScopes, leastVersion } from './rights.ts';

/** What the kernel has answered, as the program that asked it ended: a version, or 256 less the number of an error. */
export type LandlockAnswer = number;

const errors = { notBuilt: 256 - 38, switchedOff: 256 - 95 } as const;
const firstError = 128;

/** The version, if files can be moved between folders under it. */
export function usable(answer: LandlockAnswer | undefined): number | undefined {
  return answer !== undefined && answer >= leastVersion && answer < firstError ? answer : undefined;
}

export function landlockFinding(answer: LandlockAnswer | undefined): Finding {
  if (answer === undefined) return warning('landlock', 'not known', 'Only a program in a jail can ask for it.');
  if (usable(answer) !== undefined) {
    const also = answer >= firstWithScopes ? ', and on signals' : '';
    return ok('landlock', `version ${answer}: a second lock on files${also}`);
  }
  const alone = 'mounts alone hold the files';
  if (answer > 0 && answer < leastVersion) {
    return warning(
      'landlock',
      `version ${answer}; ${alone}`,
      'Under it, files cannot be moved between folders. Use a kernel from 5.19 on.',
    );
  }
  if (answer === errors.switchedOff) {
    return warning(
      'landlock',
      `switched off; ${alone}`,
      'Add landlock to the list "lsm=" that the kernel is started with.',
    );
  }
  if (answer === errors.notBuilt) {
    return warning(
      'landlock',
      `the kernel has none; ${alone}`,
      'Use a kernel from 5.19 on, built with CONFIG_SECURITY_LANDLOCK.',
    );
  }
  return warning(
    'landlock',
    `refused (${answer}); ${alone}`,
    'A container around this one may refuse it: let its filter for seccomp have landlock_*.',
  );
}
