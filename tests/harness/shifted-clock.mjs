/** Loaded into a process before its own code: its wall clock is off by what the environment says. */
const { now } = Date;
const shift = Number(process.env.TEST_CLOCK_SHIFT_MS ?? 0);
Date.now = () => now() + shift;
