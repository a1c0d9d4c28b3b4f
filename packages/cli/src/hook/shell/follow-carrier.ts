import type { Follower } from './follower.ts';
import { readJoined, readText } from './follower.ts';
import type { Word } from './word.ts';

type Carrier = (args: readonly Word[], follower: Follower, name: string) => void;

/** Follows a command of everyday use that can be told to run another one. False if it is none. */
export function followCarrier(name: string, args: readonly Word[], follower: Follower): boolean {
  const carrier = Object.hasOwn(carriers, name) ? carriers[name] : loaders.test(name) ? followLoader : undefined;
  carrier?.(args, follower, name);
  return carrier !== undefined;
}

/** The loader of programs, called as a program. */
const loaders = /^ld(?:-linux|-musl|64)?[\w.-]*\.so(?:\.\d+)*$/;

const carriers: Readonly<Record<string, Carrier>> = {
  git: followGit,
  fd: followFd,
  fdfind: followFd,
  tar: followTar,
  gtar: followTar,
  bsdtar: followTar,
  sort: doubtOptions(/^--comp/),
  split: doubtOptions(/^--f/),
  rg: doubtOptions(/^--(?:pre(?:=|$)|hostname-bin)/),
  zip: doubtOptions(/^-(?:TT|-unz)/),
  make: followMake,
  gmake: followMake,
  awk: followAwk,
  gawk: followAwk,
  mawk: followAwk,
  nawk: followAwk,
  sed: followSed,
  gsed: followSed,
  sg: followSg,
  newgrp: (_, follower, name) => follower.doubt(`${name} starts a shell`, [name]),
  npx: followRunner(),
  npm: followRunner('exec', 'x'),
  pnpm: followRunner('exec'),
  yarn: followRunner('exec'),
  poetry: followRunner('run'),
  uv: followRunner('run'),
  pipenv: followRunner('run'),
  pdm: followRunner('run'),
  hatch: followRunner('run'),
  rye: followRunner('run'),
  conda: followRunner('run'),
  bundle: followRunner('exec'),
  rbenv: followRunner('exec'),
  pyenv: followRunner('exec'),
  asdf: followRunner('exec'),
  mise: followRunner('exec', 'x'),
};

function doubtOptions(options: RegExp): Carrier {
  return (args, follower, name) => {
    const found = args.find(({ text }) => options.test(text));
    if (found !== undefined) follower.doubt(`${name} runs what an option names`, [name, found.text]);
  };
}

function followLoader(args: readonly Word[], follower: Follower, name: string): void {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  if (at > 0) follower.doubt(`${name}: its options are not read`, [name]);
  if (at >= 0) follower.run(args.slice(at), undefined);
}

function followFd(args: readonly Word[], follower: Follower, name: string): void {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z]*[xX]|--exec.*)/.test(text));
  if (at < 0) return;
  if (!/^(?:-[xX]|--exec(?:-batch)?)$/.test(args[at]?.text ?? ''))
    follower.doubt(`${name} runs what an option names`, [name, args[at]?.text ?? '']);
  const end = args.findIndex(({ text }, index) => index > at && text === ';');
  follower.run(args.slice(at + 1, end < 0 ? undefined : end), undefined);
  if (end >= 0) followFd(args.slice(end + 1), follower, name);
}

const harmlessConfig =
  /^(?:user\.|color\.|advice\.|core\.(?:quotepath|autocrlf)=|commit\.gpgsign=|init\.defaultbranch=)/i;
const runningConfig =
  /^(?:alias|filter|pager|difftool|mergetool|merge|diff|credential|gpg|sendemail|submodule|remote|url|include|includeif)\..*|^core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand)$/i;

function followGit(args: readonly Word[], follower: Follower): void {
  const doubt = (word: Word | undefined) =>
    follower.doubt('git may run what is not read here', ['git', word?.text ?? '']);
  let at = 0;
  for (; /^-./.test(args[at]?.text ?? ''); at++) {
    const word = args[at];
    const value = args[at + 1];
    if (/^(?:-C|-c|--git-dir|--work-tree|--namespace|--config-env|--exec-path)$/.test(word?.text ?? '')) at++;
    if (word?.isMany === true || (at < args.length && args[at]?.isMany === true)) doubt(word);
    if (word?.text === '-c' && (value?.unknown !== false || !harmlessConfig.test(value.text))) doubt(value);
    if (/^--(?:config-env|exec-path=)/.test(word?.text ?? '')) doubt(word);
  }
  const command = args[at];
  const rest = args.slice(at + 1);
  if (command === undefined) return;
  if (command.unknown || command.isGlob) doubt(command);
  for (const word of rest) if (/^ext::|^--(?:upl|receive-p|extc|open-f)|^-O./.test(word.text)) doubt(word);
  const [first, second] = rest;
  if (command.text === 'bisect' && first?.text === 'run') follower.run(rest.slice(1), undefined);
  if (command.text === 'submodule' && rest.some(({ text }) => text === 'foreach'))
    readJoined(afterOptions(rest.slice(rest.findIndex(({ text }) => text === 'foreach') + 1)), follower);
  if (command.text === 'rebase') {
    rest.forEach(({ text, ...word }, index) => {
      if (/^(?:-\w*x|--e\w*)$/.test(text)) readText(rest[index + 1], follower);
      else if (/^(?:-\w*x|--e\w*=)/.test(text))
        readText({ ...word, text: text.replace(/^(?:-\w*?x|--\w+=)/, '') }, follower);
    });
  }
  if (/^(?:filter-branch|difftool|mergetool|daemon|instaweb|send-email)$/.test(command.text)) doubt(command);
  if (command.text === 'config' && rest.some(({ text }) => runningConfig.test(text)) && second !== undefined)
    doubt(first);
  if (command.text === 'clone' && rest.some(({ text }) => /^(?:-c|--conf|--templ|-u)/.test(text))) doubt(first);
}

function afterOptions(words: readonly Word[]): readonly Word[] {
  const at = words.findIndex(({ text }) => !text.startsWith('-'));
  return at < 0 ? [] : words.slice(at);
}

const compressors = /^(?:gzip|pigz|bzip2|pbzip2|xz|pxz|zstd|zstdmt|lz4|lzma|lzip|brotli)$/;

function followTar(args: readonly Word[], follower: Follower, name: string): void {
  args.forEach(({ text }, at) => {
    const isLong = /^--(?:checkpoint-a|to-c|use-c|rsh|inf|new-v)/.test(text);
    const isScript = /^-\w*F/.test(text);
    const isProgram =
      /^-\w*I/.test(text) && !compressors.test(text.replace(/^-\w*?I/, '') || (args[at + 1]?.text ?? ''));
    const isBundle = at === 0 && /^\w*[IF]\w*$/.test(text);
    if (isLong || isScript || isProgram || isBundle) follower.doubt(`${name} runs what an option names`, [name, text]);
  });
}

function followMake(args: readonly Word[], follower: Follower, name: string): void {
  args.forEach(({ text }, at) => {
    const [, attached] = /^(?:-\w*f|--(?:file|makefile)=?)(.*)$/s.exec(text) ?? [];
    const file = attached === '' ? args[at + 1] : attached;
    const path = typeof file === 'string' ? file : (file?.text ?? '');
    const isOpen = typeof file === 'object' && file.unknown;
    if (
      isOpen ||
      (attached !== undefined && /^-$|^\/dev\/|^\/proc\//.test(path)) ||
      /^(?:-\w*E|--ev|SHELL\b)/.test(text)
    )
      follower.doubt(`${name} runs what is not in a file`, [name, text]);
  });
}

const longestProgram = 4096;

function followAwk(args: readonly Word[], follower: Follower, name: string): void {
  const running = /\bsystem\s*\(|\bgetline\b|@load|\|&|\bprintf?\b[^;}\n]*\|(?!\|)/;
  const program = args.find(({ text }) => !text.startsWith('-'));
  const found = args.find(({ text }) => text.length > longestProgram || running.test(text));
  if (found !== undefined || program?.unknown === true) follower.doubt(`${name} may run a command`, [name]);
}

function followSed(args: readonly Word[], follower: Follower, name: string): void {
  const substitution = /[sy]([^\w\s\\])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1([a-zA-Z0-9]*)/gs;
  const isRunning = (text: string) => {
    if (text.length > longestProgram) return true;
    if ([...text.matchAll(substitution)].some(([, , flags = '']) => /^[gpiImM\d]*e/.test(flags))) return true;
    const rest = text.replaceAll(substitution, '').replaceAll(/\/(?:\\.|[^/\\])*\//gs, '/');
    return /(?:^|[;{}\n\d$,!/])\s*e(?:\s|$|;)/.test(rest.replace(/^(?:-\w*e|--expression=)/, ''));
  };
  if (args.some(({ text }) => isRunning(text))) follower.doubt(`${name} may run a command`, [name]);
}

/** `sg GROUP [-c] text`. */
function followSg(args: readonly Word[], follower: Follower, name: string): void {
  const words = args.slice(1).filter(({ text }) => text !== '-c');
  if (words.length === 0) follower.doubt(`${name} starts a shell`, [name]);
  else readJoined(words, follower);
}

/** `uv run COMMAND`, `npm exec -- COMMAND`. Without a word in front the command comes first. */
function followRunner(...verbs: readonly string[]): Carrier {
  return (args, follower, name) => {
    const text = args.findIndex((word) => /^(?:-c|--call)$/.test(word.text));
    const attached = args.find((word) => /^(?:-c.|--call=)/.test(word.text));
    const at = verbs.length === 0 ? -1 : args.findIndex((word) => verbs.includes(word.text));
    if (verbs.length > 0 && (at < 0 || args.slice(0, at).some((word) => !word.text.startsWith('-')))) {
      // The first word is what it does.
      const verb = args.find((word) => !word.text.startsWith('-'));
      if (verb?.unknown === true) follower.doubt(`${name}: what it does is known only when it runs`, [name]);
      return;
    }
    if (attached !== undefined) follower.doubt(`${name} runs a text`, [attached.text]);
    if (text > at) readText(args[text + 1], follower);
    const words = args.slice(at + 1);
    const command = afterOptions(words);
    if (command.length < words.length && words[0]?.text !== '--' && text < 0)
      follower.doubt(`${name}: its options are not read`, [name]);
    if (verbs.length > 0 && text < 0 && command.length > 0) follower.run(command, undefined);
  };
}
