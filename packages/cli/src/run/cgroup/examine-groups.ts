import type { Finding } from '../../doctor/finding.ts';
import { ok, warning } from '../../doctor/finding.ts';
import { Cgroup } from './cgroup.ts';
import { limitNames } from './limits.ts';

const modest = { memory: 2 ** 30, pids: 4096, cpus: 1 } as const;

/** What control groups this user may have. The proof is to make each, and to remove it at once. */
export function examineGroups(): Finding {
  const version = Cgroup.tried({})?.version;
  const limits = limitNames.filter((name) => Cgroup.tried({ [name]: modest[name] }) !== undefined);
  const advice =
    'Without one, processes are frozen by signals, and there are no limits. "systemd-run --user --scope -p Delegate=yes" gives one.';
  if (version === undefined && limits.length === 0) return warning('cgroup', 'none for this user; not needed', advice);
  const freezes = version === undefined ? 'no freezing' : `freezing by version ${version}`;
  const detail = `${freezes}; limits: ${limits.length === 0 ? 'none' : limits.join(', ')}`;
  return limits.length === limitNames.length ? ok('cgroup', detail) : warning('cgroup', detail, advice);
}
