export type { Followed } from './follow-commit.ts';
export { followCommit, prepareToFollow } from './follow-commit.ts';
export { touchOf } from './touch-of.ts';
export { commitText, parseCommit } from './commit-text.ts';
