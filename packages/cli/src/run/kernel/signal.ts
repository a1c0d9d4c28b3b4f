/** Sends a signal to a process, or to a group by its negative number, that may be gone already. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // Gone.
    return false;
  }
}
