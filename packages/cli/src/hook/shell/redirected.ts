import type { Redirection } from './found-command.ts';
import type { Places } from './places.ts';
import type { ShellAction } from './shell-action.ts';
import { doubtful } from './shell-action.ts';

const harmless = /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|fd\/\d+)$/;
const writing = new Set(['>', '>>', '>|', '<>', '&>', '&>>', '>&']);

/** What a redirection does to files and hosts. */
export function redirectedActions({ operator, target }: Redirection, places: Places): readonly ShellAction[] {
  if (target === undefined || operator === '<<<') return [];
  const { text } = target;
  if ((operator === '>&' || operator === '<&') && /^(?:\d+-?|-)$/.test(text)) return [];
  if (harmless.test(text) && !target.unknown) return [];
  const [, protocol, host = '', port = ''] = /^\/dev\/(tcp|udp)\/([^/]+)\/(\d{1,5})$/.exec(text) ?? [];
  if (protocol !== undefined && !target.unknown && Number(port) <= 65_535) {
    return [{ kind: 'connection', host, port: Number(port), protocol: protocol === 'udp' ? 'udp' : 'tcp' }];
  }
  // What is inside of a process substitution was read with the word.
  if (/^[<>]\(/.test(text)) return [];
  const paths = /^\/dev\/(?:tcp|udp)\//.test(text) ? undefined : places.pathsOf(target);
  if (paths === undefined)
    return [
      doubtful('a redirection leads to a place that is known only when it runs', places.inWords(), [operator, text]),
    ];
  const operation = writing.has(operator) ? 'write' : 'read';
  return paths.map((path) => ({ kind: 'file', operation, path }));
}
