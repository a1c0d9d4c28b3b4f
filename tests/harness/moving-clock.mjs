/** Loaded into a process before its own code. A file sets the offset of its wall clock, in milliseconds. */
import { readFileSync } from 'node:fs';

const { now } = Date;
let shift = 0;
let readAt = Number.NEGATIVE_INFINITY;
Date.now = () => {
  if (performance.now() - readAt > 20) {
    readAt = performance.now();
    shift = Number(readFileSync(process.env.TEST_CLOCK_FILE, 'utf8')) || shift;
  }
  return now() + shift;
};
