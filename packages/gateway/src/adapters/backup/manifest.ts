import { z } from 'zod';

/** The parts of a backup, by name. Policies follow under `policies/`. */
export const manifestName = 'manifest.json';
export const storeName = 'reeve.db';
export const policiesFolder = 'policies/';

/** A name that leads to no other place than the folder of policies. */
const policyName = /^policies(\/(?!\.{1,2}(\/|$))[^/\\\p{Cc}]+)+$/u;
export const mostParts = 10_000;
export const mostManifestBytes = 8 * 1024 * 1024;
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().nonnegative();

const manifestSchema = z.object({
  format: z.int(),
  reeve_version: z.string().max(64),
  created_at: z.iso.datetime(),
  schema_version: z.int().positive(),
  /** The log in the backup: its newest entry, and how many it has. */
  head: z.object({ seq: count, hash: sha256 }),
  entries: count,
  /** Whether the policy files are in the backup. They are not if they lie outside of the data folder. */
  policies: z.enum(['included', 'elsewhere']),
  /** Whether the archive ends with a seal. Archives of earlier releases do not. */
  sealed: z.literal(true).optional(),
  parts: z.array(z.object({ name: z.string().max(4096), bytes: count, sha256 })).max(mostParts),
});

/** What a backup holds. The members have their names in the file. */
export type Manifest = z.infer<typeof manifestSchema>;
export type Part = Manifest['parts'][number];

export const formatVersion = 1;

/** Why a file is no backup, or not a good one. */
export class BackupError extends Error {}

/** Reads a manifest, and refuses one whose parts would not make a data folder. */
export function parseManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BackupError('its manifest is not JSON');
  }
  const newer = z
    .object({ format: z.int().min(formatVersion + 1), reeve_version: z.string().max(64) })
    .safeParse(value);
  if (newer.success) {
    throw new BackupError(
      `it has format ${newer.data.format} and this Reeve knows up to ${formatVersion}: it was made by Reeve ${newer.data.reeve_version}, which can restore it`,
    );
  }
  const { success, data } = manifestSchema.safeParse(value);
  if (!success || data.format !== formatVersion) throw new BackupError('its manifest is malformed');
  const names = data.parts.map(({ name }) => name);
  const isGood = names[0] === storeName && names.slice(1).every((name) => policyName.test(name));
  if (!isGood || new Set(names).size < names.length) throw new BackupError('its manifest names parts that cannot be');
  return data;
}
