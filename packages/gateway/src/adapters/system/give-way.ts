import { constants, setPriority } from 'node:os';

/**
 * How much a thread gives way to the one that decides. `much`: its work can wait. `little`: it has to keep up with
 * decisions, and still gets a quarter of a core that it shares with them.
 */
const priorities = { much: constants.priority.PRIORITY_BELOW_NORMAL, little: 5 };

/**
 * Lowers the priority of the calling thread: decisions come first where cores are few. On Linux a thread has its own
 * priority; elsewhere this call would change that of the whole process.
 */
export function giveWay(how: keyof typeof priorities): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(priorities[how]);
  } catch {
    // A sandbox may forbid it. Then the thread only competes more with decisions.
  }
}
