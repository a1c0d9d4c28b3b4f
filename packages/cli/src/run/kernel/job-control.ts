import { readFileSync } from 'node:fs';
import { unlessGone } from './unless-gone.ts';

interface Job {
  readonly parent: string;
  readonly group: string;
  readonly session: string;
  /** The group in the foreground of its terminal. */
  readonly foreground: string;
}

function jobOf(pid: string): Job | undefined {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (text === undefined) return undefined;
  const [, parent = '', group = '', session = '', , foreground = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent, group, session, foreground };
}

export function isInForeground(): boolean {
  const job = jobOf('self');
  return job !== undefined && job.group === job.foreground;
}

/** Whether somebody in the session could continue this job: the nearest process above that is in another group. */
export function hasShell(): boolean {
  const own = jobOf('self');
  for (let above = own && jobOf(own.parent); above !== undefined; above = jobOf(above.parent)) {
    if (above.session !== own?.session) return false;
    if (above.group !== own.group) return true;
  }
  return false;
}
