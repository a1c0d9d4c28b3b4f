/** The longest delay of a timer. */
export const longestTimerMs = 2_147_483_647;

/**
 * Keeps the process alive while something is awaited. The connection itself never does: an agent that only waits for
 * controls may end.
 */
export class ProcessHold {
  #timer: NodeJS.Timeout | undefined;
  #holders = 0;

  /** Holds until the returned function is called. */
  take(): () => void {
    this.#holders++;
    this.#timer ??= setInterval(() => {}, longestTimerMs);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (--this.#holders > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }
}
