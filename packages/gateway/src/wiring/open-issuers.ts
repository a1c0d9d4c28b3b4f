import type { Issuers, IssuerSettings, SubjectIssuer, WorkloadIssuer } from '@reeve/core';
import { sha256 } from '../adapters/crypto/node-crypto.ts';
import { IssuersFile } from '../adapters/issuers/issuers-file.ts';
import { KeyPlaces } from '../adapters/issuers/key-places.ts';
import type { EntryForm } from '../adapters/issuers/read-issuers.ts';
import { subjectForm } from '../adapters/issuers/read-issuers.ts';
import { workloadForm } from '../adapters/issuers/workload-form.ts';
import { systemClock } from '../adapters/system/system-clock.ts';
import { followIssuers } from '../background/follow-issuers.ts';
import type { WiringContext } from './wiring-context.ts';

/** Who is believed about people and workloads. Without a file, nobody. */
export interface OpenedIssuers {
  readonly subjects: Issuers<SubjectIssuer>;
  readonly workloads: Issuers<WorkloadIssuer>;
}

const nobody = { trusted: [] };

/** Reads the files of issuers, and begins to fetch their keys. */
export async function openIssuers(context: WiringContext): Promise<OpenedIssuers> {
  const { config, logger } = context;
  const places = new KeyPlaces({
    elapsed: systemClock.elapsed,
    onChange: (place, why) => {
      if (why === undefined) logger.info(place, 'the keys of an issuer were read');
      else logger.warn({ ...place, why }, 'the keys of an issuer cannot be had; those at hand are used on');
    },
  });
  return {
    subjects: await openFile(context, 'subjects', config.subjects, subjectForm, places),
    workloads: await openFile(context, 'workloads', config.workloads, workloadForm, places),
  };
}

async function openFile<Settings extends IssuerSettings>(
  { health, logger, opened }: WiringContext,
  part: 'subjects' | 'workloads',
  path: string | undefined,
  form: EntryForm<Settings>,
  places: KeyPlaces,
): Promise<Issuers<Settings>> {
  if (path === undefined) return nobody;
  const file = new IssuersFile(path, form, { clock: systemClock, sha256, places });
  opened.defer(() => file.close(), `the file of ${part}`);
  await followIssuers(part, file, health, logger);
  return file;
}
