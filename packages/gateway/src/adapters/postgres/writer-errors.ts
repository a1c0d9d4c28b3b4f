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
