import type { CarrierWord } from './carrier-word.ts';
import type { Form, ReadForm } from './form.ts';
import { doubtOfForm } from './form.ts';

/** Interpreters: a program that is named, or written on the line, is judged as such. One that comes from the input is not seen. */
interface Interpreter extends Form {
  /** Options that bring the program, or ask for none. */
  readonly brings: string;
  /** The option that brings it as a text. */
  readonly inline?: string;
  /** Programs, and modules, that read what they run. */
  readonly reads?: RegExp;
}

const python: Interpreter = {
  flags: 'bBdEhIOPqRsSuvVx?',
  valued: 'cWXm',
  last: ['c', 'm'],
  reads: /^(?:code|asyncio|pdb|bdb|IPython|ptpython|bpython|idlelib\b.*|jupyter\b.*)$/,
  long: 'check-hash-based-pycs=',
  brings: 'c m h V version help',
  inline: '-c',
};
const perl: Interpreter = {
  flags: 'acfnpsStTuUvwWXhg',
  valued: 'eEI',
  attached: '0CDFilMmV',
  brings: 'e E v V h version help',
  inline: '-e',
};
const ruby: Interpreter = {
  flags: 'acdhlnpsSvwy',
  valued: 'eICrE',
  attached: '0FiKTWx',
  long: 'enable= disable= encoding= external-encoding= internal-encoding= verbose yjit jit',
  brings: 'e v h version help',
  inline: '-e',
};
const node: Interpreter = {
  flags: 'cvhp',
  valued: 'eprC',
  long: 'check eval= print= require= import= conditions= test watch watch-path= test-name-pattern= test-reporter= test-only test-concurrency= env-file= env-file-if-exists= max-old-space-size= stack-size= loader= experimental-strip-types no-experimental-strip-types experimental-transform-types experimental-vm-modules experimental-test-coverage experimental-sqlite experimental-specifier-resolution= no-warnings trace-warnings trace-deprecation trace-uncaught no-deprecation enable-source-maps expose-gc preserve-symlinks inspect=? inspect-brk=? input-type= unhandled-rejections= dns-result-order= openssl-legacy-provider throw-deprecation run= use-system-ca prof cpu-prof heap-prof',
  brings: 'c v h e p check eval print test run version help',
  inline: '-e',
  reads: /^(?:inspect|debug)$/,
};
const php: Interpreter = {
  flags: 'inqvhlsw',
  valued: 'rRfcdStzBFE',
  long: 'ini=? rf= rc= re= run= file= syntax-check',
  brings: 'r R f i v h l S ini rf rc re run file version help',
  inline: '-r',
};
const lua: Interpreter = { flags: 'vEW', valued: 'el', brings: 'e v', inline: '-e' };

const table: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:python[\d.]*|pypy[\d.]*)$/, python],
  [/^perl[\d.]*$/, perl],
  [/^ruby[\d.]*$/, ruby],
  [/^(?:node|nodejs)$/, node],
  [
    /^(?:tsx|ts-node|ts-node-esm)$/,
    {
      flags: 'vhTP',
      valued: 'eprO',
      long: 'eval= print= require= import= tsconfig= project= no-cache transpile-only type-check files esm swc env-file= test',
      brings: 'e p v h eval print version help test',
      inline: '-e',
    },
  ],
  [/^php[\d.]*$/, php],
  [/^(?:lua[\d.]*|luajit)$/, lua],
  [/^Rscript$/, { valued: 'e', long: 'vanilla verbose', brings: 'e version help', inline: '-e' }],
  [/^osascript$/, { valued: 'els', brings: 'e' }],
  [
    /^julia[\d.]*$/,
    {
      flags: 'qvh',
      valued: 'eEpt',
      long: 'project=? startup-file= threads= color=',
      brings: 'e E v h version help',
      inline: '-e',
    },
  ],
  [/^(?:tclsh|wish)[\d.]*$/, { brings: '' }],
  [/^guile[\d.]*$/, { flags: 'qvh', valued: 'cLs', brings: 'c s v h version help' }],
];

const onInput = 'it runs a program that it reads from its input';

/** The form of an interpreter with a program. */
export function interpreterForm(name: string): Form | undefined {
  const found = interpreterOf(name);
  if (found === undefined) return undefined;
  const brings = found.brings.split(' ');
  return {
    ...found,
    ends: true,
    doubtIn: ({ options, operands: [program] }: ReadForm) => {
      const modules = options.get('m') ?? [];
      if (
        [...modules, ...(program === undefined ? [] : [program])].some(({ text }) => found.reads?.test(text) === true)
      )
        return 'it runs what it reads';
      if (brings.some((option) => options.has(option))) return undefined;
      if (program === undefined || program.text === '-' || program.text === '/dev/stdin') return onInput;
      if (/^\/+(?:dev|proc)\/|(?:^|\/)stdin$/.test(program.text)) return 'it runs a program that is in no file';
      return program.unknown === true || program.isGlob === true ? 'its program is known only when it runs' : undefined;
    },
  };
}

function interpreterOf(name: string): Interpreter | undefined {
  return table.find(([names]) => names.test(name))?.[1];
}

/**
 * The option with which an interpreter takes the same program as a text, if these words make it read one from its standard
 * input and all else of them is known.
 */
export function inlineOption(name: string, words: readonly CarrierWord[]): string | undefined {
  const form = interpreterForm(name);
  return form !== undefined && doubtOfForm(words, form) === onInput ? interpreterOf(name)?.inline : undefined;
}
