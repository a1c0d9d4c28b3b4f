/** Loaded into a process before its own code. The environment sets the offset of its wall clock. */
const { now } = Date;
const shift = Number(process.env.TEST_CLOCK_SHIFT_MS ?? 0);
Date.now = () => now() + shift;
