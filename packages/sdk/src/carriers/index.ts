import { buildTools, doubtOfCargo, doubtOfGo } from './build-tools.ts';
import type { CarrierWord } from './carrier-word.ts';
import { fileTools, unbundled } from './file-tools.ts';
import { doubtOfForm } from './form.ts';
import { doubtOfGit } from './git-carrier.ts';
import { interpreterForm } from './interpreters.ts';
import { networkTools } from './network-tools.ts';
import { opaqueNames, otherCarrierNames, otherShellNames, shellNames, wrapperNames } from './program-names.ts';
import { isRunner, readRunner } from './runners.ts';

export type { CarrierWord } from './carrier-word.ts';
export { inlineOption } from './interpreters.ts';
export { opaqueNames, otherShellNames, shellNames, wrapperNames } from './program-names.ts';
export type { WrapperName } from './program-names.ts';
export { isRunner, readRunner } from './runners.ts';
export type { RunnerUse } from './runners.ts';

const forms = { ...fileTools, ...buildTools, ...networkTools };

/**
 * Why a program may run another one, named by its words or by its input. Undefined if it is not known to be able to, or if
 * all its words are known to be harmless. What is not known of a program that can is in doubt.
 */
export function doubtOfProgram(name: string, words: readonly CarrierWord[]): string | undefined {
  if (name === 'git') return doubtOfGit(words);
  if (name === 'cargo') return doubtOfCargo(words);
  if (name === 'go') return doubtOfGo(words);
  if (name === 'deno') return doubtOfDeno(words);
  const form = Object.hasOwn(forms, name) ? forms[name] : interpreterForm(name);
  if (form === undefined) return undefined;
  return doubtOfForm(/^(?:bsd|g)?tar$/.test(name) ? unbundled(words) : words, form);
}

/** Without a file or a text it reads a program from its input. */
function doubtOfDeno(words: readonly CarrierWord[]): string | undefined {
  const [verb] = words;
  const isInput = ({ text }: CarrierWord) => text === '-' || /^\/+(?:dev|proc)\//.test(text);
  if (verb === undefined || verb.unknown === true || /^(?:repl|-$)/.test(verb.text) || words.some(isInput))
    return 'it may run a program that it reads from its input';
  return undefined;
}

const carriers = new Set<string>([
  ...shellNames,
  ...otherShellNames,
  ...wrapperNames,
  ...opaqueNames,
  ...otherCarrierNames,
]);

/** The same for who follows no command: whether a plain command line runs nothing but the program that it begins with. */
export function runsItselfAlone(name: string, words: readonly CarrierWord[]): boolean {
  const asksOnly = words.length === 1 && /^--(?:version|help)$/.test(words[0]?.text ?? '');
  if (carriers.has(name)) return asksOnly && !(wrapperNames as readonly string[]).includes(name);
  if (isRunner(name)) return readRunner(name, words).kind === 'none';
  return doubtOfProgram(name, words) === undefined;
}
