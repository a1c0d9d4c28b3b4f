/** Does one thing that a stranger would do, and tells whether it worked. */
export type Trial = (name: string, work: () => Promise<void>) => Promise<void>;
