import type { Width } from '../../access/index.ts';
import { widest, widthOf } from '../../access/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { Policies } from '../policies.ts';
import type { PolicyVersion, StoredVersion } from './policy-version.ts';

/**
 * Versions from before widths were stored name the key that saved them, and its binding is known. So a tenant's old
 * document still counts as the tenant's: its caps raise nothing, and the tenant may change it.
 */

type World = Pick<Policies, 'keys' | 'policyRegistry'>;

const readAtOnce = 8;

/** The newest versions of documents, each with the width of its widest writer, as far as its versions tell. */
export async function withWriters(gov: World, newest: readonly StoredVersion[]): Promise<PolicyVersion[]> {
  const found: PolicyVersion[] = [];
  for (const version of newest) {
    found.push(hasWidth(version) ? version : written(gov, version, await widestBefore(gov, version)));
  }
  return found;
}

/** The same for a version that another gateway has just stored: the known width of the document counts, too. */
export function withWriter(gov: World, version: StoredVersion): PolicyVersion {
  return hasWidth(version) ? version : written(gov, version, gov.policyRegistry.newest(version.name)?.width);
}

function written(gov: World, version: StoredVersion, before: Width | undefined): PolicyVersion {
  const author = writerOf(gov, version.savedBy);
  const width = widest(before ?? author, author);
  return { ...version, width, ...(width === author ? {} : { author }) };
}

/** The writer of a version that is no longer kept is unknown, so it counts as the operator. */
async function widestBefore(gov: World, { name, version }: StoredVersion): Promise<Width | undefined> {
  const { store } = gov.policyRegistry;
  const earlier = (await store.outline(name)).map((each) => each.version).filter((each) => each < version);
  if (earlier.length < version - 1) return 'unbound';
  let width: Width | undefined;
  for (let start = 0; start < earlier.length && width !== 'unbound'; start += readAtOnce) {
    for (const each of await store.versions(name, earlier.slice(start, start + readAtOnce))) {
      const writer = each.width ?? writerOf(gov, each.savedBy);
      width = widest(width ?? writer, writer);
    }
  }
  return width;
}

/** Accounts are bound to no tenant. An unknown key may have been anybody's. */
function writerOf({ keys }: World, { kind, id }: Actor): Width {
  const key = kind === 'api_key' ? keys.find(id) : undefined;
  return key === undefined ? 'unbound' : widthOf(key);
}

function hasWidth(version: StoredVersion): version is StoredVersion & Pick<PolicyVersion, 'width'> {
  return version.width !== null;
}
