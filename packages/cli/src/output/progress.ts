import type { Shell } from '../shell.ts';
import { cleanText } from './clean-text.ts';

const patienceMs = 1000;

/** Says on a terminal that the work takes a while, once it does. The line disappears at the end. */
export async function withProgress<Result>(
  shell: Shell,
  words: (seconds: number) => string,
  work: Promise<Result>,
): Promise<Result> {
  if (!shell.stderr.isTTY) return work;
  const started = performance.now();
  let isShown = false;
  const show = () => {
    isShown = true;
    const seconds = Math.floor((performance.now() - started) / 1000);
    shell.stderr.write(`\r\u001b[2K${cleanText(words(seconds))}`);
  };
  const timer = setInterval(show, patienceMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (isShown) shell.stderr.write('\r\u001b[2K');
  }
}
