import { spawnSync } from 'node:child_process';

/** What the tests use of the system, with the Debian package that brings it. */
const tools: Readonly<Record<string, string>> = { openssl: 'openssl', prlimit: 'util-linux' };

/** Installs what is missing, where that can be done; says what to do where it cannot. */
export function ensureTools(): void {
  const missing = Object.keys(tools).filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (missing.length === 0) return;
  const packages = missing.map((tool) => tools[tool] ?? tool);
  const [program, ...args] = process.getuid?.() === 0 ? ['apt-get'] : ['sudo', '-n', 'apt-get'];
  process.stdout.write(`installing ${packages.join(', ')}\n`);
  spawnSync(program ?? '', [...args, 'update'], { stdio: 'inherit' });
  const { status } = spawnSync(program ?? '', [...args, 'install', '-y', '--no-install-recommends', ...packages], {
    stdio: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  if (status !== 0) throw new Error(`the tests need ${missing.join(', ')}; install ${packages.join(', ')} first`);
}
