export { factsIn, followCommit, prepareToFollow } from './follow-commit.ts';
export { commitText, parseCommit } from './commit-text.ts';
