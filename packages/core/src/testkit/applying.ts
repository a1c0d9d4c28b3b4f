import type { Applying } from '../journal/meaning.ts';

/** The fact happens here, and is not durable yet. */
export const here: Applying = { isHere: true, seq: Number.POSITIVE_INFINITY, onDurable: () => undefined };

/** Another gateway has done it. */
export const elsewhere: Applying = { isHere: false, seq: 0, onDurable: (effect) => effect() };
