import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

/** Kills a remaining child when this process ends, even if its owner could not. */
export function endWithUs(child: ChildProcess): void {
  if (children.size === 0) process.once('exit', killAll);
  children.add(child);
  child.once('close', () => {
    children.delete(child);
    if (children.size === 0) process.off('exit', killAll);
  });
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}
