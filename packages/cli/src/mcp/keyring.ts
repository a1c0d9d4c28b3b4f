import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A keyring of the operating system, by a program that comes with it. The secret is in no argument. */
export interface Keyring {
  /** The program, for people. */
  readonly program: string;
  /** The secret, or undefined if there is none. Throws `KeyringAway`. */
  read(): Promise<string | undefined>;
  /** Throws `KeyringAway`. */
  write(secret: string): Promise<void>;
}

/** There is no such program, or it does not reach a keyring. The message holds nothing of a secret. */
export class KeyringAway extends Error {}

const service = 'reeve-mcp';
/** A keyring may have to ask the person to unlock it. */
const patienceMs = 30_000;
/** What `security` says of an item that is not there. */
const noSuchItem = 44;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where systems have these programs. A project or a package could put another one on the PATH, which would get the key. */
const places = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];
/** What a keyring needs to be reached and to ask the person. No secret is among it. */
const needed =
  /^(HOME|USER|LOGNAME|LANG|LC_[A-Z]+|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY)$/;

/** The keyring of this system for one account, whether or not it can be reached; by the program at the path, if it is given. */
export function keyringOf(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
  account: string,
  path?: string,
): Keyring | undefined {
  const ownEnv = Object.fromEntries(Object.entries(env).filter(([name]) => needed.test(name)));
  if (platform === 'linux') return secretTool(path ?? foundAt('secret-tool'), ownEnv, account);
  return platform === 'darwin' ? security(path ?? foundAt('security'), ownEnv, account) : undefined;
}

function foundAt(name: string): string {
  const paths = places.map((place) => join(place, name));
  return paths.find((path) => existsSync(path)) ?? join('/usr/bin', name);
}

function secretTool(path: string, env: NodeJS.ProcessEnv, account: string): Keyring {
  const program = basename(path);
  const names = ['service', service, 'account', account];
  return {
    program,
    read: async () => {
      const { code, stdout, stderr } = await run(path, ['lookup', ...names], env);
      if (code === 0 && stdout !== '') return stdout;
      // Without a word, there is no such item. Otherwise it says what is wrong with the keyring.
      if (stderr.trim() !== '') throw new KeyringAway(`${program} cannot reach the keyring`);
      return undefined;
    },
    write: async (secret) => {
      const { code } = await run(path, ['store', '--label=Reeve: logins to MCP servers', ...names], env, secret);
      if (code !== 0) throw new KeyringAway(`${program} cannot write to the keyring`);
    },
  };
}

function security(path: string, env: NodeJS.ProcessEnv, account: string): Keyring {
  const program = basename(path);
  return {
    program,
    read: async () => {
      const { code, stdout } = await run(path, ['find-generic-password', '-a', account, '-s', service, '-w'], env);
      if (code === 0 && stdout !== '') return stdout;
      if (code !== noSuchItem) throw new KeyringAway(`${program} cannot reach the keychain`);
      return undefined;
    },
    write: async (secret) => {
      // Its commands come by standard input, so that the secret is in no list of processes.
      const quoted = account.replaceAll(/[\\"]/g, String.raw`\$&`);
      const command = `add-generic-password -U -a "${quoted}" -s ${service} -w ${secret}\n`;
      const { code } = await run(path, ['-i'], env, command);
      if (code !== 0) throw new KeyringAway(`${program} cannot write to the keychain`);
    },
  };
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { env, timeout: patienceMs }, (error, stdout, stderr) => {
      if (error === null) return resolve({ code: 0, stdout, stderr });
      if (typeof error.code === 'number') return resolve({ code: error.code, stdout, stderr });
      const isMissing = (error.code as unknown) === 'ENOENT';
      return reject(new KeyringAway(isMissing ? `there is no ${program}` : `${program} does not answer`));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
