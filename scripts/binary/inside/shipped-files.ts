// Takes the place of packages/cli/src/shipped-files.ts in the single executable, which has the files inside.
import { getAsset, getAssetKeys } from 'node:sea';

export function shippedFiles(folder: string): ReadonlyMap<string, Buffer> {
  const before = `files/${folder}/`;
  const keys = getAssetKeys().filter((key) => key.startsWith(before));
  return new Map(keys.map((key) => [key.slice(before.length), Buffer.from(getAsset(key))]));
}

export function dashboardFiles(): ReadonlyMap<string, Buffer> {
  return shippedFiles('dashboard');
}
