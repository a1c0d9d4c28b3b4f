import type { CarrierWord } from './carrier-word.ts';
import type { Form, ReadForm } from './form.ts';
import { doubtOfForm } from './form.ts';

const compiler: Form = {
  flags: 'cESvwg',
  valued: 'oxTuADIL',
  attached: 'OlWfmdPUn',
  singleDash: true,
  long:
    'std= pthread pipe shared static ansi pedantic pedantic-errors include= isystem= iquote= idirafter= MD MMD MP M MM ' +
    'MF= MT= MQ= rdynamic nostdlib nodefaultlibs nostartfiles pie no-pie dumpversion dumpmachine target= sysroot= arch= ' +
    'framework= stdlib= g0 g1 g2 g3 s',
  doubtIn: ({ options, operands }) => {
    const values = [...(options.get('f') ?? []), ...(options.get('W') ?? [])];
    const bad = values.find(({ text }) => /plugin|use-ld|^[apl],/.test(text));
    if (bad !== undefined) return `${bad.text} may run another program`;
    if (options.get('m')?.some(({ text }) => text.startsWith('llvm')) === true) return 'it may load a plugin';
    return operands.some(({ text }) => text.startsWith('@')) ? 'its options are in a file' : undefined;
  },
};

const make: Form = {
  flags: 'BbdeiknpqRrsStvwm',
  valued: 'Cf',
  attached: 'jlOI',
  long:
    'always-make directory= jobs=? keep-going dry-run just-print recon silent quiet question no-print-directory ' +
    'print-directory output-sync=? no-builtin-rules no-builtin-variables touch warn-undefined-variables ' +
    'print-data-base load-average=? ignore-errors file= makefile=',
  // Makefiles name their programs by variables.
  doubtIn: ({ options, operands }) => {
    const files = ['f', 'file', 'makefile'].flatMap((name) => options.get(name) ?? []);
    if (files.some(({ text, unknown }) => unknown === true || /^-$|^\/+(?:dev|proc)\//.test(text)))
      return 'it runs what is not in a file';
    const set = operands.find(({ text }) => text.includes('='));
    return set === undefined ? undefined : `${set.text} may change what runs`;
  },
};

/** Programs with commands of their own. */
function verbs(
  harmless: string,
  form: Form,
  more: (verb: string, read: ReadForm) => string | undefined = () => undefined,
): Form {
  const known = new Set(harmless.split(' '));
  return {
    ...form,
    doubtIn: (read) => {
      const [verb] = read.operands;
      if (verb === undefined) return undefined;
      return known.has(verb.text) && verb.unknown !== true
        ? more(verb.text, read)
        : `${verb.text} may run another program`;
    },
  };
}

const pip: Form = verbs(
  'install uninstall list show freeze check download wheel cache index inspect hash help debug config',
  {
    flags: 'UqvyolI',
    valued: 'recitf',
    long:
      'requirement= editable= constraint= target= user upgrade no-deps quiet verbose index-url= extra-index-url= ' +
      'find-links= no-cache-dir break-system-packages pre no-index require-virtualenv no-build-isolation only-binary= ' +
      'no-binary= prefer-binary progress-bar= disable-pip-version-check yes format= outdated local root-user-action= ' +
      'ignore-installed force-reinstall no-input trusted-host= dry-run prefix= root= src= timeout= retries= report= ' +
      'not-required exclude= uptodate no-warn-script-location no-compile',
  },
  (verb, { operands }) =>
    verb === 'config' && !/^(?:get|list|debug)$/.test(operands[1]?.text ?? '')
      ? 'config may start an editor'
      : undefined,
);

const linked = /^(?:(?:-s|-w|-X[ =][\w./-]+=[\w.:+-]*|)(?: |$))*$/;

const go: Form = verbs(
  'build test run vet fmt mod get install list version doc env clean work fix bug help telemetry',
  {
    singleDash: true,
    long:
      'v race count= run= bench= cover coverprofile= covermode= coverpkg= o= tags= timeout= short parallel= mod= json p= x ' +
      'n a trimpath failfast benchmem cpu= u t d C= m f= skip= shuffle= fuzz= fuzztime= list= vet= i cache modcache ' +
      'testcache all deps test e changed c ldflags=',
  },
  // A program that is run takes what follows.
  (verb, { options }) => {
    if (verb === 'env' && options.has('u')) return 'a setting may change what runs';
    // The linker takes the name of another one.
    const isPlain = ({ text, unknown }: CarrierWord) => unknown !== true && linked.test(text);
    return options.get('ldflags')?.every(isPlain) === false ? 'its linker may run another program' : undefined;
  },
);

const cargo: Form = verbs(
  'build b test t run r check c clippy fmt doc d bench clean update add remove new init tree metadata search fetch fix publish package install uninstall version help locate-project pkgid vendor verify-project generate-lockfile nextest audit deny outdated expand machete llvm-cov hack',
  {
    flags: 'vqieFr',
    valued: 'pjF',
    long:
      'release all all-targets all-features features= no-default-features package= workspace bin=? bins lib example=? ' +
      'examples test=? tests bench=? benches doc no-run target= target-dir= manifest-path= jobs= verbose quiet locked ' +
      'offline frozen message-format= profile= keep-going fix allow-dirty allow-staged allow-no-vcs check edition= ' +
      'color= exclude= no-fail-fast depth= invert=? version= git= branch= tag= rev= path= dev build optional rename= ' +
      'name= vcs= no-deps open document-private-items dry-run force root= format-version= duplicates',
  },
);

/** `cargo run -- x`, `npm run x -- y`: what follows is for another program, which is judged by its files. */
function upToDashes(words: readonly CarrierWord[]): readonly CarrierWord[] {
  const at = words.findIndex(({ text }) => text === '--');
  return at < 0 ? words : words.slice(0, at);
}

export function doubtOfCargo(words: readonly CarrierWord[]): string | undefined {
  const isToolchain = /^\+(?:stable|beta|nightly|\d+\.\d+(?:\.\d+)?)(?:-[\w-]+)?$/.test(words[0]?.text ?? '');
  return doubtOfForm(upToDashes(isToolchain ? words.slice(1) : words), cargo);
}

/** `go run x -y`: what follows the package is for the program. */
export function doubtOfGo(words: readonly CarrierWord[]): string | undefined {
  if (words[0]?.text !== 'run') return doubtOfForm(words, go);
  return doubtOfForm(words.slice(1), { ...go, ends: true, doubtIn: () => undefined });
}

/** Programs that build and test, and the ways to call them that are known to run no program that is named on the line. */
export const buildTools: Readonly<Record<string, Form>> = {
  make,
  gmake: make,
  gcc: compiler,
  cc: compiler,
  'g++': compiler,
  'c++': compiler,
  clang: compiler,
  'clang++': compiler,
  pip,
  pip3: pip,
  java: {
    ends: true,
    attached: 'DX',
    singleDash: true,
    long: 'jar= cp= classpath= class-path= m= module= p= module-path= showversion ea esa enable-preview add-opens= add-exports= add-modules= server verbose',
    doubtIn: ({ options, operands: [first] }) => {
      if (first?.text.startsWith('@') === true) return 'its options are in a file';
      const bad = options.get('X')?.find(({ text }) => !/^(?:m[sxn]|ss|int$|comp$|mixed$|log|share|verify)/.test(text));
      return bad === undefined ? undefined : `-X${bad.text} may run another program`;
    },
  },
  cmake: {
    flags: 'hV',
    valued: 'SBGCTA',
    attached: 'DUWj',
    long: 'build= target= config= parallel=? install= prefix= preset= fresh clean-first list-presets verbose log-level= component= strip',
    // What comes after two dashes is for make, or for another program of its kind.
    doubtIn: ({ options, operands }) => (options.has('build') ? doubtOfForm(operands, make) : undefined),
  },
  ctest: {
    flags: 'VQNh',
    valued: 'CRELIj',
    long:
      'verbose extra-verbose output-on-failure parallel= test-dir= build-config= tests-regex= exclude-regex= label-regex= ' +
      'rerun-failed timeout= stop-on-failure no-tests= preset= show-only=? progress repeat=',
  },
};
