export type { Interned } from './encoding/codec.ts';
export { agentsIn, followCommit, prepareToFollow } from './follow-commit.ts';
export { commitText, factsText, parseCommit } from './commit-text.ts';
export { namedText } from './named-facts.ts';
