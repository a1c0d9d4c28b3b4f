// What follows `npm install` in a checkout: the Node that the sources run on, and the dashboard. This file is for any Node
// from version 20 on, so it is plain JavaScript.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));
const runtime = join(home, 'runtime');
const brought = join(runtime, 'node_modules', `node-linux-${process.arch}`);
const lock = join(runtime, 'package-lock.json');
/** What was installed last, so that another version is noticed. */
const stamp = join(runtime, 'node_modules/.installed-from');
const least = 24;

/** The Node of the machine, if it is new enough; otherwise the one that npm has, in the version of the lock file. */
function chooseNode() {
  const isOwn = process.execPath.startsWith(join(runtime, '/'));
  if (!isOwn && Number.parseInt(process.versions.node, 10) >= least) return process.execPath;
  const node = join(brought, 'bin/node');
  const isThere = existsSync(node) && existsSync(stamp) && readFileSync(stamp, 'utf8') === readFileSync(lock, 'utf8');
  if (!isThere) bringNode(node);
  return node;
}

function bringNode(node) {
  const [major] = process.versions.node.split('.');
  process.stdout.write(`installing Node ${least} into this checkout, as the machine has Node ${major}\n`);
  const options = ['--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', ['ci', '--prefix', runtime, ...options], { cwd: runtime, stdio: 'inherit' });
  if (status !== 0 || !existsSync(node)) {
    throw new Error(
      `Reeve needs Node ${least} or newer, and npm could not bring it for ${process.platform} on ${process.arch}: ` +
        'install it, or let npm reach its registry, and run "npm install" again',
    );
  }
  // Headers and manuals are a third of the package, and nothing here reads them.
  for (const name of ['include', 'share']) rmSync(join(brought, name), { recursive: true, force: true });
  writeFileSync(stamp, readFileSync(lock));
}

/** npm scripts, `npx` and the command look here first. */
function linkNode(node) {
  const link = join(home, 'node_modules/.bin/node');
  const aside = `${link}.${process.pid}`;
  mkdirSync(dirname(link), { recursive: true });
  // A checkout can be moved with what is in it.
  symlinkSync(node.startsWith(home) ? relative(dirname(link), node) : node, aside);
  renameSync(aside, link);
}

try {
  const node = chooseNode();
  linkNode(node);
  process.exitCode = spawnSync(node, [join(home, 'scripts/build-dashboard.ts')], { stdio: 'inherit' }).status ?? 1;
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
