import type { CarrierWord } from './carrier-word.ts';
import type { Form } from './form.ts';
import { doubtOfForm } from './form.ts';

/** A program one of whose commands runs another program, which is named after it: `uv run pytest`. */
interface Runner {
  /** The commands that do, in words. */
  readonly runs: readonly string[];
  /** The others. Undefined: what is not known runs as it is called, as with `pnpm vitest`. */
  readonly others?: string;
  /** Options of the program that name none. */
  readonly options?: Form;
  /** The program is named after two dashes. */
  readonly afterDashes?: true;
  /** Operands before the program. */
  readonly before?: number;
}

export type RunnerUse =
  | { readonly kind: 'none' }
  | { readonly kind: 'doubt'; readonly why: string }
  /** These words are a command. */
  | { readonly kind: 'command'; readonly words: readonly CarrierWord[] }
  /** This is a text for a shell. */
  | { readonly kind: 'text'; readonly word: CarrierWord };

const npmOptions: Form = {
  flags: 'DgSEOPfsqdyl',
  valued: 'wC',
  long:
    'save save-dev save-exact save-optional save-peer no-save global workspace= workspaces include-workspace-root prefix= ' +
    'legacy-peer-deps force no-audit no-fund silent loglevel= quiet ignore-scripts omit= include= production dry-run json ' +
    'depth= all long package-lock-only registry= tag= access= if-present parseable prefer-offline offline no-progress ' +
    'audit-level= yes no no-package-lock frozen-lockfile no-frozen-lockfile filter= recursive dir= dev prod watch',
};
const npmCommands =
  'access add audit bugs cache ci completion dedupe deprecate diff dist-tag docs doctor explain fund get help i ' +
  'install install-test it la link list ll login logout ls outdated owner pack ping pkg prefix profile prune publish query ' +
  'rebuild remove repo restart rm root run run-script sbom search shrinkwrap star start stop t team test token un uninstall ' +
  'unlink unpublish up update upgrade v version view whoami info why import licenses store fetch patch-commit';
const workspaces: Form = {
  flags: 'qvns',
  valued: 'CPp',
  long: 'quiet verbose directory= project= no-interaction no-ansi',
};

const table: Readonly<Record<string, Runner>> = {
  npm: { runs: ['exec', 'x'], others: npmCommands, options: npmOptions },
  npx: { runs: [''], options: { flags: 'y', valued: 'p', long: 'yes no package= quiet' } },
  pnpm: { runs: ['exec'], options: { ...npmOptions, flags: `${npmOptions.flags}r`, valued: 'CF' } },
  // What it does not know is a script of the project.
  yarn: { runs: ['exec'], others: '*', options: npmOptions },
  bun: { runs: [], options: { valued: 'r', long: 'cwd= watch hot smol silent preload= env-file=' } },
  poetry: {
    runs: ['run'],
    others:
      'about add build cache check config debug env export help init install list lock new publish remove search self show source sync update version',
    options: workspaces,
  },
  uv: {
    runs: ['run'],
    others: 'add auth build cache export format help init lock pip publish python remove self sync tree venv version',
    options: workspaces,
  },
  pipenv: {
    runs: ['run'],
    others: 'check clean graph install lock requirements scripts sync uninstall update upgrade verify',
    options: workspaces,
  },
  pdm: {
    runs: ['run'],
    others:
      'add build cache config export info init install list lock outdated publish remove search show sync update use venv',
    options: workspaces,
  },
  hatch: {
    runs: ['run'],
    others: 'build clean config dep env fmt new project publish python self status test version',
    options: workspaces,
  },
  rye: {
    runs: ['run'],
    others:
      'add build config fetch fmt init install lint list lock make-req pin publish remove show sync test toolchain version',
    options: workspaces,
  },
  conda: {
    runs: ['run'],
    others:
      'activate clean compare config create deactivate env export info init install list remove search uninstall update upgrade',
    options: { flags: 'qvy', valued: 'np', long: 'name= prefix= yes quiet' },
  },
  bundle: {
    runs: ['exec'],
    others:
      'add binstubs cache check clean config doctor env gem info init install licenses list lock outdated package platform pristine remove show update version viz',
  },
  rbenv: { runs: ['exec'], others: 'global local rehash root shims version versions which whence install shell' },
  pyenv: {
    runs: ['exec'],
    others: 'global local rehash root shims version versions which whence install shell virtualenv',
  },
  asdf: {
    runs: ['exec'],
    others: 'current global install latest list local plugin reshim set uninstall update where which info',
  },
  rustup: {
    runs: ['run'],
    others:
      'show update default toolchain target component install self doc which override check set completions man help',
    before: 1,
  },
  mise: {
    runs: ['exec', 'x'],
    afterDashes: true,
    others:
      'current install latest ls list outdated prune settings trust uninstall up upgrade use version where which doctor tasks run r',
  },
};

/** What pnpm, yarn and bun do themselves. The rest are scripts and programs. */
const ownCommands = new Set(`${npmCommands} build create deploy env link pm workspaces install run test`.split(' '));

export function isRunner(name: string): boolean {
  return Object.hasOwn(table, name);
}

/** What a runner runs. */
export function readRunner(name: string, words: readonly CarrierWord[]): RunnerUse {
  const runner = table[name] ?? { runs: [] };
  const options = runner.options ?? {};
  const at = words.findIndex((_, index) => isVerb(words.slice(0, index + 1), options));
  if (at < 0) return beforeVerb(words, runner, options);
  const verb = words[at];
  const front = words.slice(0, at);
  const why = doubtOfForm(front, options);
  if (why !== undefined) return { kind: 'doubt', why };
  if (verb === undefined || verb.unknown === true || verb.isGlob === true)
    return { kind: 'doubt', why: 'what it does is known only when it runs' };
  if (runner.runs.includes('')) return commandIn(words, options);
  if (runner.runs.includes(verb.text)) return programIn(words.slice(at + 1), runner, options);
  const known = runner.others === undefined ? ownCommands : new Set(runner.others.split(' '));
  if (!known.has('*') && !known.has(verb.text)) {
    if (runner.others !== undefined) return { kind: 'doubt', why: `${verb.text} may run another program` };
    return { kind: 'command', words: words.slice(at) };
  }
  return afterVerb(name, verb.text, words.slice(at + 1), options);
}

function isVerb(words: readonly CarrierWord[], options: Form): boolean {
  let count = 0;
  doubtOfForm(words, { ...options, doubtIn: ({ operands }) => void (count = operands.length) });
  return count > 0;
}

/** There is no command, or an option before it is not known. */
function beforeVerb(words: readonly CarrierWord[], runner: Runner, options: Form): RunnerUse {
  if (runner.runs.includes('')) return commandIn(words, options);
  const why = doubtOfForm(words, options);
  return why === undefined ? { kind: 'none' } : { kind: 'doubt', why };
}

function programIn(words: readonly CarrierWord[], runner: Runner, options: Form): RunnerUse {
  const dashes = words.findIndex(({ text }) => text === '--');
  if (runner.afterDashes === true) {
    if (dashes < 0) return { kind: 'doubt', why: 'the program is not after two dashes' };
    const why = doubtOfForm(words.slice(0, dashes), options);
    if (why !== undefined) return { kind: 'doubt', why };
  }
  const use = commandIn(runner.afterDashes === true ? words.slice(dashes) : words, options);
  return use.kind === 'command' ? { ...use, words: use.words.slice(runner.before ?? 0) } : use;
}

/** `exec -c TEXT`, `exec -- COMMAND`, `exec COMMAND`. */
function commandIn(words: readonly CarrierWord[], options: Form): RunnerUse {
  const form: Form = {
    ...options,
    ends: true,
    valued: `${options.valued ?? ''}c`,
    long: `${options.long ?? ''} call=`,
  };
  let use: RunnerUse = { kind: 'none' };
  const why = doubtOfForm(words, {
    ...form,
    doubtIn: ({ options: given, operands }) => {
      const [text] = [...(given.get('c') ?? []), ...(given.get('call') ?? [])];
      if (text !== undefined) use = { kind: 'text', word: text };
      else if (operands.length > 0) use = { kind: 'command', words: operands };
      return undefined;
    },
  });
  return why === undefined ? use : { kind: 'doubt', why };
}

/** What npm and its kin take is written down for them alone. The others have options of their own, none of which runs a program. */
function afterVerb(name: string, verb: string, words: readonly CarrierWord[], options: Form): RunnerUse {
  if (words.some(({ text }) => text === '-')) return { kind: 'doubt', why: 'it may run what it reads from its input' };
  if (!/^(?:npm|pnpm|yarn)$/.test(name)) return { kind: 'none' };
  const end = words.findIndex(({ text }) => text === '--');
  const own = end < 0 ? words : words.slice(0, end);
  // A script gets the rest of its line from pnpm and yarn.
  const isScript = name !== 'npm' && (/^(?:t|test|start|stop|restart)$/.test(verb) || !ownCommands.has(verb));
  if (isScript) return { kind: 'none' };
  const why = doubtOfForm(own, name === 'npm' || !verb.startsWith('run') ? options : { ...options, ends: true });
  return why === undefined ? { kind: 'none' } : { kind: 'doubt', why };
}
