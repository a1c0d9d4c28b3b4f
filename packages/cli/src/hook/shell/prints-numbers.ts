import type { FoundCommand } from './found-command.ts';
import type { Word } from './word.ts';

/** Ways to call programs in which they print numbers and nothing else, whatever they read. */
const counters: Readonly<Record<string, (args: readonly Word[]) => boolean>> = {
  wc: (args) => args.length === 1 && matches(args[0], /^-[lcwmL]$/),
  date: (args) => args.length === 1 && matches(args[0], /^\+(?:%[sYmdHMSNjuyC])+$/),
  nproc: (args) => args.length === 0,
  id: (args) => args.length === 1 && matches(args[0], /^-[ug]$/),
  seq: (args) => args.length > 0 && args.every((word) => matches(word, /^\d+$/)),
  // With several files it prints their names as well.
  grep: (args) => {
    const options = args.filter(({ text }) => /^-./.test(text));
    const operands = args.filter((word) => !options.includes(word));
    return (
      options.some(({ text }) => text.includes('c')) &&
      options.every((word) => matches(word, /^-[ciEFvwxsh]+$/)) &&
      operands.length <= 2 &&
      operands.every(({ text, unknown, isGlob, isMany }) => !isGlob && !isMany && !(unknown && /^[$`]/.test(text)))
    );
  },
  git: ([verb, count, ...refs]) =>
    matches(verb, /^rev-list$/) && matches(count, /^--count$/) && refs.every((word) => matches(word, /^[\w./@~^]+$/)),
  stat: (args) => args.length === 3 && matches(args[0], /^-c$/) && matches(args[1], /^%[sYi]$/) && !args[2]?.isMany,
};

/** Whether a pipeline prints numbers and nothing else, as long as no function has the name of a program in it. */
export function printsNumbers(pipeline: readonly FoundCommand[]): boolean {
  const last = pipeline.at(-1);
  if (last === undefined) return false;
  const [program, ...args] = last.words;
  // Complaints may name what others have chosen.
  const isOpen = last.redirections.some(({ operator, descriptor }) => operator !== '<' || descriptor !== '');
  if (program?.plain !== true || isOpen || last.assignments.length > 0) return false;
  const before = pipeline.slice(0, -1);
  if (!before.every(keepsToItself)) return false;
  if (program.text === 'tr') return args.length === 2 && matches(args[0], /^-d$/) && printsNumbers(before);
  return Object.hasOwn(counters, program.text) && counters[program.text]?.(args) === true;
}

/** A process may write to where another one does, if it finds it among all processes. */
function keepsToItself({ words, redirections }: FoundCommand): boolean {
  const used = [...words, ...redirections.map(({ target }) => target)];
  return words.length > 0 && used.every((word) => word?.unknown !== true && !/proc|dev\/fd/.test(word?.text ?? ''));
}

function matches(word: Word | undefined, pattern: RegExp): boolean {
  return word !== undefined && !word.unknown && !word.isGlob && pattern.test(word.text);
}
