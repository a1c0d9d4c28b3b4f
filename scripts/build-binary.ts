// npm run build:binary: the command as one executable for Linux, with Node and the dashboard inside, in `dist/binaries`.
// Names of architectures (x64, arm64) limit it to those.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { bundleCommand } from './binary/bundle-command.ts';
import { loadPostject, nodeBinary, nodeLicence } from './binary/node-binaries.ts';
import { buildDashboard } from './build-dashboard.ts';
import { licencesFile, licencesIn } from './packages/bundled-licences.ts';
import { home } from './packages/public-packages.ts';
import { shippedFolders } from './packages/shipped-folders.ts';

export const architectures = ['x64', 'arm64'] as const;
export const binariesFolder = join(home, 'dist/binaries');

/** What Node looks for in itself, to see whether it is an application. */
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

function* assets(threads: ReadonlyMap<string, string>): Generator<[key: string, path: string]> {
  for (const [name, path] of threads) yield [`threads/${name}`, path];
  for (const [name, folder] of Object.entries(shippedFolders)) {
    const root = join(home, folder);
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !entry.name.startsWith('.')) yield [`files/${name}/${relative(root, path)}`, path];
    }
  }
}

/**
 * The application as Node reads it. With code that is compiled already, it starts in a third of the time. Only the
 * architecture that it is for can do that, so what is built elsewhere compiles at each start.
 */
function blobOf(arch: string, { main, threads }: Awaited<ReturnType<typeof bundleCommand>>, folder: string): Buffer {
  const output = join(folder, `${arch}.blob`);
  const config = join(folder, `${arch}.json`);
  const application = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: arch === process.arch,
    assets: Object.fromEntries(assets(threads)),
  };
  writeFileSync(config, JSON.stringify(application));
  // By the Node that the code will be in: what one version has compiled, another does not read.
  execFileSync(nodeBinary(process.arch), ['--experimental-sea-config', config], { stdio: 'pipe' });
  return readFileSync(output);
}

/** Returns the executables. Beside them it leaves the licences of all that is inside. */
export async function buildBinaries(wanted: readonly string[] = architectures): Promise<readonly string[]> {
  const unknown = wanted.find((arch) => !architectures.some((known) => known === arch));
  if (unknown !== undefined)
    throw new Error(`there is no executable for ${unknown}, only for ${architectures.join(', ')}`);
  buildDashboard();
  const scratch = join(home, 'dist/binary-build');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  mkdirSync(binariesFolder, { recursive: true });
  const bundled = await bundleCommand(scratch);
  const licences = [bundled.licences, licencesIn(join(home, 'packages/dashboard/dist')), nodeLicence(process.arch)];
  writeFileSync(join(binariesFolder, licencesFile), licences.join('\n\n'));
  const postject = loadPostject();
  const made: string[] = [];
  for (const arch of wanted) {
    const path = join(binariesFolder, `reeve-linux-${arch}`);
    const aside = join(scratch, arch);
    cpSync(nodeBinary(arch), aside);
    chmodSync(aside, 0o755);
    await postject.inject(aside, 'NODE_SEA_BLOB', blobOf(arch, bundled, scratch), { sentinelFuse });
    renameSync(aside, path);
    made.push(path);
  }
  rmSync(scratch, { recursive: true, force: true });
  return made;
}

if (import.meta.main) {
  const wanted = process.argv.slice(2);
  for (const path of await buildBinaries(wanted.length === 0 ? undefined : wanted)) process.stdout.write(`${path}\n`);
}
