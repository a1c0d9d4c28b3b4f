import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/** Reads lines and says them. A shell is on every Linux, and needs nothing else for it. */
const speaker = 'while IFS= read -r line; do printf "%s\\n" "$line"; done';
const mostWaiting = 64 * 1024;
const lastWordsMs = 1000;

/**
 * Says lines on standard error by a process of its own. The program shares the terminal: it can stop its output, or leave
 * us in the background, and then a write of ours would not return, with nobody left to stop the program. Nor does this
 * change how the descriptor behaves for the program. What nobody takes is dropped.
 */
export class Voice implements AsyncDisposable {
  #child: ChildProcess | undefined;

  say(line: string): void {
    const { stdin } = (this.#child ??= begin());
    if (stdin !== null && !stdin.destroyed && stdin.writableLength < mostWaiting) stdin.write(`${line}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child?.stdin == null || child.exitCode !== null || child.pid === undefined) return;
    child.ref();
    const ended = once(child, 'exit');
    child.stdin.end();
    await Promise.race([ended, sleep(lastWordsMs, undefined, { ref: false })]);
    child.kill('SIGKILL');
  }
}

/** In a session of its own, so that no terminal stops it for writing. */
function begin(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', speaker], { stdio: ['pipe', 2, 'ignore'], detached: true, env: {} });
  child.on('error', () => {});
  child.stdin?.on('error', () => {});
  child.unref();
  return child;
}
