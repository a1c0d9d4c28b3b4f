/**
 * The log in the database does not go on from the commit that this gateway stands on: it was away for too long, or the
 * database has lost commits. Nothing may be decided by what was lost. A start reads everything anew.
 */
export class FellBehind extends Error {
  constructor(version: number, why: string) {
    super(
      `the database does not go on from commit ${version}, up to which this gateway knows it: ${why}; start it again`,
    );
    this.name = 'FellBehind';
  }
}
