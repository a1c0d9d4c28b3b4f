import { messageOf } from '@reeve/core';
import { StartError } from './start-error.ts';

const makeRoom = 'the disk is full or limited: make room and start again';
const allow = 'let the user that runs the gateway read and write there, or choose another place with --data';
const restore = 'the file is damaged: restore the data folder from a backup, and keep the damaged one';
const isItUp = 'see that the server runs and can be reached from here';
const letIn = 'check user and password in SVC_DATABASE_URL, and what the server lets in (pg_hba.conf)';

/** By SQLite's result codes, extended codes first. */
const sqliteAdvice: Readonly<Record<number, string>> = {
  778: makeRoom, // a write failed
  1034: makeRoom, // its way to the disk failed
  1546: makeRoom, // a file did not shrink
  4874: makeRoom, // shared memory did not grow
  5: 'another process has it locked: stop that one',
  6: 'another process has it locked: stop that one',
  8: allow,
  10: 'the disk fails: see the log of the system',
  11: restore,
  13: makeRoom,
  14: allow,
  26: restore,
};

/** By Node's system error names, and by PostgreSQL's codes. */
const adviceByCode: Readonly<Record<string, string>> = {
  ENOSPC: makeRoom,
  EDQUOT: makeRoom,
  EFBIG: makeRoom,
  EACCES: allow,
  EPERM: allow,
  EROFS: 'the file system is read-only: choose another place with --data',
  ENOTDIR: 'a file is where a folder should be: choose another place with --data',
  EEXIST: 'a file is where a folder should be: choose another place with --data',
  ENOENT: 'it does not exist',
  EMFILE: 'too many files are open: raise the limit (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
  ECONNREFUSED: isItUp,
  ECONNRESET: isItUp,
  ETIMEDOUT: isItUp,
  EHOSTUNREACH: isItUp,
  ENETUNREACH: isItUp,
  ENOTFOUND: 'check the host in SVC_DATABASE_URL: its name has no address',
  EAI_AGAIN: 'check the host in SVC_DATABASE_URL: its name cannot be looked up now',
  '28P01': letIn,
  '28000': letIn,
  '3D000': 'create the database, or check its name in SVC_DATABASE_URL',
  '42501': 'give the user of SVC_DATABASE_URL the right to create tables in the database',
  '53100': 'the disk of the database server is full: make room there',
  '53300': 'the server has too many connections: raise max_connections or end some',
  '57P03': 'the server is starting or stopping: try again',
};

/** One line for any error that stopped a start; `folder` is that of the embedded store, if there is one. */
export function explainStart(error: unknown, folder: string | undefined): StartError {
  const first = causeOf(error);
  if (first instanceof StartError) return first;
  const place = folder !== undefined && isOfSqlite(first) ? ` with the data folder ${folder}` : '';
  return new StartError(`cannot start${place}: ${withAdvice(first)}`);
}

/** The message of an error in one line, with advice if there is some. */
export function withAdvice(error: unknown): string {
  const cause = causeOf(error);
  const said = messageOf(cause).replaceAll(/\s+/g, ' ');
  const advice = adviceFor(cause);
  return advice === undefined ? said : `${said}; ${advice}`;
}

/** The original cause: neither an error that followed from it nor one that wraps it. */
function causeOf(error: unknown): unknown {
  if (error instanceof SuppressedError) return causeOf(error.suppressed);
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0]);
  if (error instanceof Error && error.cause !== undefined && !(error instanceof StartError))
    return causeOf(error.cause);
  return error;
}

function isOfSqlite(error: unknown): error is Error & { readonly errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}

function adviceFor(error: unknown): string | undefined {
  if (isOfSqlite(error)) return sqliteAdvice[error.errcode] ?? sqliteAdvice[error.errcode & 0xff];
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  return Object.hasOwn(adviceByCode, code) ? adviceByCode[code] : undefined;
}
