import { isHarmlessAwk } from './awk-carrier.ts';
import type { CarrierWord } from './carrier-word.ts';
import type { Form, ReadForm } from './form.ts';
import { isHarmlessSed } from './sed-carrier.ts';

const longestProgram = 4096;
const textOf = ({ text }: CarrierWord) => text;

function isOpen({ unknown = false, isGlob = false, text }: CarrierWord): boolean {
  return unknown || isGlob || text.length > longestProgram;
}

function sedDoubt({ options, operands }: ReadForm): string | undefined {
  const given = [...(options.get('e') ?? []), ...(options.get('expression') ?? [])];
  const isGiven = options.has('e') || options.has('expression') || options.has('version') || options.has('help');
  const scripts = isGiven ? given : operands.slice(0, 1);
  if (scripts.some(isOpen)) return 'its script is known only when it runs, or is too long';
  return isHarmlessSed(scripts.map(textOf).join('\n')) ? undefined : 'its script may run a command or open a file';
}

function awkDoubt({ operands: [program] }: ReadForm): string | undefined {
  if (program !== undefined && isOpen(program)) return 'its program is known only when it runs, or is too long';
  return isHarmlessAwk(program?.text ?? '') ? undefined : 'its program may run a command or open a file';
}

/** A command of a pager comes as an operand. */
function pagerDoubt({ operands }: ReadForm): string | undefined {
  return operands.some(({ text }) => text.startsWith('+')) ? 'it may run a command' : undefined;
}

const viewer: Form = {
  flags: 'AnpPuhVfS',
  valued: 'lHrm',
  long:
    'plain number line-range= language= style= color= paging= theme= decorations= wrap= show-all tabs= file-name= diff ' +
    'highlight-line= list-languages list-themes terminal-width= map-syntax=',
};

const awk: Form = { ends: true, valued: 'Fv', long: 'field-separator= assign= posix re-interval', doubtIn: awkDoubt };

const sed: Form = {
  flags: 'nrEsuz',
  valued: 'el',
  attached: 'i',
  long: 'quiet silent expression= regexp-extended separate unbuffered null-data in-place=? posix follow-symlinks sandbox debug',
  doubtIn: sedDoubt,
};

const compressors = /^(?:gzip|pigz|bzip2|pbzip2|xz|pxz|zstd|zstdmt|lz4|lzma|lzip|brotli)$/;

const tar: Form = {
  flags: 'cxtruAdzjJZvkpPhlmsSnOwWBiaU0',
  valued: 'fCTXbgLKHVNI',
  long:
    'create extract get list append update concatenate diff compare delete gzip bzip2 xz zstd lzma lzip gunzip ' +
    'auto-compress file= directory= exclude= exclude-from= exclude-vcs exclude-vcs-ignores strip-components= transform= ' +
    'xform= verbose keep-old-files skip-old-files overwrite no-same-owner no-same-permissions same-owner ' +
    'preserve-permissions owner= group= mode= mtime= sort= numeric-owner to-stdout files-from= null wildcards ' +
    'no-wildcards anchored dereference hard-dereference sparse one-file-system totals=? format= pax-option= newer= ' +
    'keep-newer-files remove-files use-compress-program= checkpoint=? warning= ignore-failed-read recursion no-recursion touch verify ' +
    'absolute-names show-transformed-names no-xattrs xattrs acls selinux',
  doubtIn: ({ options }) => {
    const compressed = [...(options.get('I') ?? []), ...(options.get('use-compress-program') ?? [])];
    if (!compressed.every(({ text }) => compressors.test(text))) return 'it may run another program';
    const archives = [...(options.get('f') ?? []), ...(options.get('file') ?? [])];
    if (archives.some(({ text }) => /^[^/]*:/.test(text))) return 'it may connect to another host';
    const names = [...(options.get('transform') ?? []), ...(options.get('xform') ?? [])];
    return names.every(({ text }) => isHarmlessSed(text)) ? undefined : 'an expression for names is not read';
  },
};

/** `tar czf x .`: the first word is a bundle of letters, whose values follow in their order. */
export function unbundled(words: readonly CarrierWord[]): readonly CarrierWord[] {
  const [first, ...rest] = words;
  if (first === undefined || !/^[a-zA-Z0-9]+$/.test(first.text)) return words;
  const options = first.text.split('').flatMap((letter) => {
    const option = { text: `-${letter}` };
    return (tar.valued ?? '').includes(letter) ? [option, ...rest.splice(0, 1)] : [option];
  });
  return [...options, ...rest];
}

/** Programs for files and texts, and the ways to call them that are known to run no other one. */
export const fileTools: Readonly<Record<string, Form>> = {
  awk,
  gawk: awk,
  mawk: awk,
  nawk: awk,
  sed,
  gsed: sed,
  tar,
  gtar: tar,
  bsdtar: tar,
  sort: {
    flags: 'bdfgiMhnRrVcCmsuz',
    valued: 'kotST',
    long:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort ' +
      'human-numeric-sort numeric-sort random-sort reverse version-sort sort= check=? merge stable unique ' +
      'zero-terminated key= output= field-separator= buffer-size= parallel= batch-size= files0-from= debug',
  },
  split: {
    flags: 'eux',
    valued: 'abClnt',
    attached: 'd',
    long: 'bytes= lines= line-bytes= number= suffix-length= additional-suffix= numeric-suffixes=? hex-suffixes=? elide-empty-files verbose separator=',
  },
  rg: {
    flags: 'ivwxSsFPUNnHIlLcoqahpz0u.',
    valued: 'eftTgABCmMdjrE',
    long:
      'ignore-case smart-case case-sensitive invert-match word-regexp line-regexp fixed-strings pcre2 multiline ' +
      'multiline-dotall line-number no-line-number with-filename no-filename files-with-matches files-without-match ' +
      'files count count-matches only-matching quiet text hidden no-ignore no-ignore-vcs unrestricted follow glob= ' +
      'iglob= type= type-not= type-list after-context= before-context= context= max-count= max-columns= max-depth= ' +
      'max-filesize= sort= sortr= json vimgrep column heading no-heading color= colors= replace= regexp= file= threads= ' +
      'stats trim null null-data pretty passthru encoding= ignore-file= no-messages search-zip byte-offset engine= ' +
      'debug crlf one-file-system no-config',
  },
  zip: {
    flags: 'rjqvmufd9876543210eXyogDFkl@',
    valued: 'xibntPsO',
    long: 'recurse-paths quiet verbose exclude= include= symlinks update freshen delete junk-paths',
  },
  bat: viewer,
  batcat: viewer,
  ag: {
    flags: 'aciIlLnoQrRsSuUvwz0fFHh',
    valued: 'ABCGmp',
    long: 'ignore-case smart-case case-sensitive literal word-regexp files-with-matches files-without-matches count hidden ignore= ignore-dir= nogroup group color nocolor numbers nonumbers column depth= after= before= context= max-count= follow python js ts cpp java ruby go rust html css json',
  },
  ack: {
    flags: 'ilnoQwvhHcLsfgrR1',
    valued: 'ABCm',
    long: 'ignore-case literal word-regexp files-with-matches count type= ignore-dir= nogroup group color nocolor noheading column after-context= before-context= context= max-count= python js ts cpp java ruby go rust html css json',
  },
  less: { flags: 'aceEfFgGiIKmMnNqQrRsSuUVwWX', valued: 'jhpxyz', doubtIn: pagerDoubt },
  more: { flags: 'dflcpsu', doubtIn: pagerDoubt },
  man: { flags: 'kfwaWV', valued: 'sSmM', long: 'apropos whatis where path sections= all' },
  patch: {
    flags: 'bcEflnNRstTuv',
    valued: 'pdiorBDFgVxYz',
    long:
      'strip= input= directory= output= reverse forward dry-run force batch silent quiet backup unified ' +
      'no-backup-if-mismatch binary verbose remove-empty-files reject-file=',
  },
};
