/** What was promised, and did not hold. */
export class Broken extends Error {}
