import type { Form, ReadForm } from './form.ts';

/** Interpreters: a program that is named, or written on the line, is judged as such. One that comes from the input is not seen. */
interface Interpreter extends Form {
  /** Options that bring the program, or ask for none. */
  readonly brings: string;
}

const python: Interpreter = {
  flags: 'bBdEhIOPqRsSuvVx?',
  valued: 'cWXm',
  long: 'check-hash-based-pycs=',
  brings: 'c m h V version help',
};
const perl: Interpreter = {
  flags: 'acdfnpsStTuUvwWXhg',
  valued: 'eEI',
  attached: '0CDFilMmV',
  brings: 'e E v V h version help',
};
const ruby: Interpreter = {
  flags: 'acdhlnpsSvwy',
  valued: 'eICrE',
  attached: '0FiKTWx',
  long: 'enable= disable= encoding= external-encoding= internal-encoding= verbose yjit jit',
  brings: 'e v h version help',
};
const node: Interpreter = {
  flags: 'cvhp',
  valued: 'eprC',
  long: 'check eval= print= require= import= conditions= test watch watch-path= test-name-pattern= test-reporter= test-only test-concurrency= env-file= env-file-if-exists= max-old-space-size= stack-size= loader= experimental-strip-types no-experimental-strip-types experimental-transform-types experimental-vm-modules experimental-test-coverage experimental-sqlite experimental-specifier-resolution= no-warnings trace-warnings trace-deprecation trace-uncaught no-deprecation enable-source-maps expose-gc preserve-symlinks inspect=? inspect-brk=? input-type= unhandled-rejections= dns-result-order= openssl-legacy-provider throw-deprecation run= use-system-ca prof cpu-prof heap-prof',
  brings: 'c v h e p check eval print test run version help',
};
const php: Interpreter = {
  flags: 'inqvhlsw',
  valued: 'rRfcdStzBFE',
  long: 'ini=? rf= rc= re= run= file= syntax-check',
  brings: 'r R f i v h l S ini rf rc re run file version help',
};
const lua: Interpreter = { flags: 'vEW', valued: 'el', brings: 'e v' };

const table: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(?:python[\d.]*|pypy[\d.]*)$/, python],
  [/^perl[\d.]*$/, perl],
  [/^ruby[\d.]*$/, ruby],
  [/^(?:node|nodejs)$/, node],
  [/^php[\d.]*$/, php],
  [/^(?:lua[\d.]*|luajit)$/, lua],
  [/^Rscript$/, { valued: 'e', long: 'vanilla verbose', brings: 'e version help' }],
  [/^osascript$/, { valued: 'els', brings: 'e' }],
  [
    /^julia[\d.]*$/,
    { flags: 'qvh', valued: 'eEpt', long: 'project=? startup-file= threads= color=', brings: 'e E v h version help' },
  ],
  [/^(?:tclsh|wish)[\d.]*$/, { brings: '' }],
  [/^guile[\d.]*$/, { flags: 'qvh', valued: 'cLs', brings: 'c s v h version help' }],
];

/** The form of an interpreter with a program. */
export function interpreterForm(name: string): Form | undefined {
  const found = table.find(([names]) => names.test(name))?.[1];
  if (found === undefined) return undefined;
  const brings = found.brings.split(' ');
  return {
    ...found,
    ends: true,
    doubtIn: ({ options, operands: [program] }: ReadForm) => {
      if (brings.some((option) => options.has(option))) return undefined;
      if (program === undefined || program.text === '-' || /^\/+(?:dev|proc)\/|(?:^|\/)stdin$/.test(program.text))
        return 'it runs a program that it reads from its input';
      return program.unknown === true || program.isGlob === true ? 'its program is known only when it runs' : undefined;
    },
  };
}
