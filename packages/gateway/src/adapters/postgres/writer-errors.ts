import { HeadMoved } from '@reeve/core';
import { FellBehind } from './fell-behind.ts';
import { isLostConnection } from './outage.ts';

/** Another gateway writes to this database, and this one does not hear of it. */
export class NotAlone extends Error {
  constructor() {
    super('another gateway writes to this database; this one may not, because it cannot hear it');
    this.name = 'NotAlone';
  }
}

/** Memory and log disagree: a caller was told that this commit failed, but the database kept it. */
export class CommitKept extends Error {
  constructor(version: number) {
    super(
      `the database has kept a commit that was taken for lost, number ${version}; start the gateway again, so that it goes on from there`,
    );
    this.name = 'CommitKept';
  }
}

/** Whether the connection failed, so that the outcome of what was sent is unknown. */
export function isLoss(error: unknown): boolean {
  const answers = [HeadMoved, NotAlone, CommitKept, FellBehind];
  return !answers.some((answer) => error instanceof answer) && isLostConnection(error);
}
