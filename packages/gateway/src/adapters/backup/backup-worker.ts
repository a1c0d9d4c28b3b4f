import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { emptyChain } from '@reeve/core';
import { withAdvice } from '../../explain-start.ts';
import { PolicyFiles } from '../files/policy-files.ts';
import { StoredLog } from '../sql/stored-log.ts';
import { giveWay } from '../system/give-way.ts';
import { digestOf, writeArchive } from './archive.ts';
import type { Manifest } from './manifest.ts';
import { BackupError, formatVersion, mostParts, policiesFolder, storeName } from './manifest.ts';

/** What to back up, and where to. */
export interface BackupJob {
  /** The data folder. */
  readonly folder: string;
  /** Null if the policies lie elsewhere. */
  readonly policies: string | null;
  /** A folder for the copy of the store and for the archive. */
  readonly place: string;
  readonly version: string;
}

/** What the archive holds, or why there is none. */
export type BackupAnswer = WrittenArchive | { readonly error: string };

export interface WrittenArchive {
  readonly manifest: Manifest;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const openingMs = 10_000;

/**
 * Makes a backup in a separate thread. The copy is the store at one moment. Decisions go on meanwhile, because a reader
 * blocks no writer. The copy leaves out what was deleted; what is still in the write-ahead log is in it.
 */
function make({ folder, policies, place, version }: BackupJob): WrittenArchive {
  const createdAt = new Date();
  const copy = join(place, storeName);
  const source = new DatabaseSync(join(folder, storeName), { timeout: openingMs });
  try {
    source.prepare('VACUUM INTO ?').run(copy);
  } finally {
    source.close();
  }
  const files = policies === null ? [] : readPolicies(policies);
  const manifest: Manifest = {
    format: formatVersion,
    reeve_version: version,
    created_at: createdAt.toISOString(),
    ...factsOf(copy),
    policies: policies === null ? 'elsewhere' : 'included',
    sealed: true,
    parts: [
      { name: storeName, ...digestOf(copy) },
      ...files.map(({ name, content }) => ({ name, bytes: content.length, sha256: sha256(content) })),
    ],
  };
  const path = join(place, 'archive');
  const written = writeArchive(path, manifest, copy, files);
  rmSync(copy);
  return { manifest, path, ...written };
}

function factsOf(copy: string): Pick<Manifest, 'schema_version' | 'head' | 'entries'> {
  using db = new DatabaseSync(copy, { readOnly: true });
  const log = new StoredLog(db);
  const { seq, hash } = log.newest() ?? emptyChain;
  return {
    schema_version: Number(db.prepare('PRAGMA user_version').get()?.['user_version']),
    head: { seq, hash },
    entries: log.count(),
  };
}

function readPolicies(path: string): { readonly name: string; readonly content: Buffer }[] {
  const sources = new PolicyFiles(path, false).read();
  if (sources.length >= mostParts) throw new BackupError(`${path} holds too many files: at most ${mostParts - 1}`);
  return sources.map(({ file, text }) => ({ name: `${policiesFolder}${file}`, content: Buffer.from(text) }));
}

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function answer(): BackupAnswer {
  try {
    giveWay('much');
    return make(workerData as BackupJob);
  } catch (error) {
    return { error: withAdvice(error) };
  }
}

parentPort?.postMessage(answer());
