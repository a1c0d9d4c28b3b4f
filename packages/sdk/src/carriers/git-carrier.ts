import type { CarrierWord } from './carrier-word.ts';
import type { Form } from './form.ts';
import { doubtOfForm } from './form.ts';

/** Commands of git none of whose options names a program. */
const plain = new Set(
  (
    'add annotate apply blame branch bundle cat-file check-attr check-ignore check-ref-format checkout cherry cherry-pick ' +
    'clean commit-graph commit-tree count-objects describe diff diff-files diff-index diff-tree fast-export ' +
    'for-each-ref format-patch fsck gc hash-object lfs log ls-files ls-tree maintenance merge-base merge-file merge-tree ' +
    'mktag mktree mv name-rev notes pack-refs patch-id prune range-diff read-tree reflog replace reset restore ' +
    'rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status stripspace switch ' +
    'symbolic-ref tag unpack-objects update-index update-ref var verify-commit verify-pack version whatchanged worktree ' +
    'write-tree'
  ).split(' '),
);

const addresses = ({ operands }: { readonly operands: readonly CarrierWord[] }) => {
  const found = operands.find(({ text }) => /^\w[\w+.-]*::/.test(text));
  return found === undefined ? undefined : `${found.text} names a helper that runs`;
};

/** The options of the others that name none. */
const forms: Readonly<Record<string, Form>> = {
  am: { flags: '3ksqiuc', valued: 'pC', long: '3way signoff keep quiet interactive abort continue skip quit' },
  archive: {
    flags: 'lv',
    valued: 'o',
    attached: '0123456789',
    long: 'format= output= prefix= list verbose',
    doubtIn: formats,
  },
  clone: {
    flags: 'lsnqv4',
    valued: 'bojl',
    long: 'bare mirror depth= branch= single-branch no-single-branch no-checkout origin= quiet verbose progress recurse-submodules=? recursive shallow-submodules no-tags filter= jobs= shallow-since= sparse no-hardlinks local',
    doubtIn: addresses,
  },
  commit: {
    flags: 'apqvsnezi',
    valued: 'mFCct',
    attached: 'uS',
    long: 'all amend no-edit message= file= author= date= reuse-message= reedit-message= fixup= squash= signoff no-verify verify quiet verbose dry-run short porcelain branch allow-empty allow-empty-message cleanup= status no-status include only untracked-files=? gpg-sign=? no-gpg-sign reset-author patch pathspec-from-file= pathspec-file-nul trailer=',
  },
  fetch: {
    flags: 'apqvfktnPu46',
    valued: 'joc',
    long: 'all prune prune-tags tags no-tags depth= deepen= unshallow shallow-since= quiet verbose force jobs= dry-run append progress recurse-submodules=? no-recurse-submodules refmap= update-shallow multiple keep',
    doubtIn: addresses,
  },
  grep: {
    flags: 'inwlLcvEPFGqzohHIaWpr0',
    valued: 'efABCm',
    attached: '123456789',
    long: 'cached untracked no-index ignore-case word-regexp files-with-matches files-without-match name-only count line-number column extended-regexp perl-regexp fixed-strings and or not all-match quiet context= after-context= before-context= max-count= max-depth= threads= show-function heading break text color=? no-color full-name null recurse-submodules exclude-standard',
  },
  help: { flags: 'agv', long: 'all guides verbose' },
  init: { flags: 'q', valued: 'b', long: 'quiet bare initial-branch= object-format= shared=?' },
  'ls-remote': {
    flags: 'htqr',
    long: 'heads branches tags refs quiet exit-code symref sort= get-url',
    doubtIn: addresses,
  },
  merge: {
    flags: 'nqve',
    valued: 'mFX',
    attached: 'S',
    long: 'no-ff ff ff-only squash no-squash commit no-commit edit no-edit abort continue quit message= file= stat no-stat log=? quiet verbose strategy-option= autostash no-autostash allow-unrelated-histories signoff no-verify verify',
  },
  pull: {
    flags: 'qvr',
    long: 'rebase=? no-rebase ff ff-only no-ff all prune tags depth= quiet verbose autostash no-autostash commit no-commit no-edit edit stat no-stat force unshallow recurse-submodules=? squash allow-unrelated-histories set-upstream',
    doubtIn: addresses,
  },
  push: {
    flags: 'ufqvnd46',
    valued: 'o',
    long: 'all branches mirror tags follow-tags set-upstream force force-with-lease=? force-if-includes delete dry-run quiet verbose porcelain progress prune atomic no-verify verify push-option= signed=? thin no-thin recurse-submodules=? ',
    doubtIn: addresses,
  },
  rebase: {
    flags: 'iqvnfmr',
    valued: 'X',
    attached: 'S',
    long: 'onto= keep-base continue skip abort quit edit-todo show-current-patch interactive root autosquash no-autosquash autostash no-autostash committer-date-is-author-date force-rebase no-ff fork-point no-fork-point keep-empty empty= rebase-merges=? update-refs no-update-refs strategy-option= verify no-verify quiet verbose stat no-stat signoff reset-author-date merge apply',
  },
  remote: {
    flags: 'vfpn',
    valued: 'tm',
    long: 'verbose tags no-tags mirror=? push add delete all auto dry-run prune',
    doubtIn: addresses,
  },
  submodule: { ends: true, doubtIn: submodules },
  bisect: {
    ends: true,
    doubtIn: ({ operands: [first] }) => (first?.text === 'run' ? 'bisect runs a command' : undefined),
  },
  config: {
    flags: 'l',
    valued: 'f',
    long: 'list get= get-all= get-regexp= get-urlmatch= unset= unset-all= global local system worktree name-only show-origin show-scope null bool int bool-or-int path type= default= all add replace-all file= includes no-includes',
    doubtIn: settings,
  },
};

function formats({ options }: { readonly options: ReadonlyMap<string, readonly CarrierWord[]> }): string | undefined {
  const bad = options.get('format')?.find(({ text }) => !/^(?:tar|tar\.gz|tgz|zip)$/.test(text));
  return bad === undefined ? undefined : `the format ${bad.text} may run another program`;
}

function submodules({ operands: [first, ...rest] }: { readonly operands: readonly CarrierWord[] }): string | undefined {
  if (
    first !== undefined &&
    !/^(?:init|update|status|sync|summary|absorbgitdirs|add|deinit|set-branch|set-url)$/.test(first.text)
  )
    return `submodule ${first.text} may run another program`;
  return (
    addresses({ operands: rest }) ??
    (rest.some(({ text }) => /^-(?!-(?:init|recursive|remote|depth|force|quiet|jobs|name|branch)\b|[bfqj])/.test(text))
      ? 'an option of submodule is not known'
      : undefined)
  );
}

const harmlessKeys =
  /^(?:user\.|author\.|committer\.|color\.|column\.|advice\.|blame\.|status\.|log\.|i18n\.|gc\.auto|core\.(?:quotepath|autocrlf|eol|filemode|ignorecase|longpaths|safecrlf|whitespace|abbrev|bare|precomposeunicode|preloadindex|compression|bigfilethreshold)$|(?:commit|tag)\.gpgsign$|init\.defaultbranch$|pull\.(?:rebase|ff)$|push\.(?:default|autosetupremote|followtags)$|fetch\.(?:prune|prunetags|parallel|writecommitgraph)$|rebase\.(?:autostash|autosquash|updaterefs)$|merge\.(?:conflictstyle|ff)$|diff\.(?:algorithm|renames|colormoved|mnemonicprefix|noprefix)$|rerere\.(?:enabled|autoupdate)$|branch\.(?:autosetupmerge|autosetuprebase|sort)$|branch\..*\.(?:remote|merge|rebase|description)$|http\.postbuffer$|index\.version$|feature\.|submodule\.recurse$|help\.autocorrect$|safe\.directory$|pack\.|tag\.sort$|versionsort\.)/i;

/** Reading is harmless. A value is, if no program ever is the value of its key. */
function settings({
  options,
  operands,
}: {
  readonly options: ReadonlyMap<string, readonly CarrierWord[]>;
  readonly operands: readonly CarrierWord[];
}): string | undefined {
  if ([...options.keys()].some((name) => /^(?:l|list|(?:get|unset)(?:-.*)?)$/.test(name))) return undefined;
  const [first, ...rest] = operands;
  const verb = first?.text ?? '';
  if (/^(?:list|get|unset)$/.test(verb)) return undefined;
  const [key, value] = verb === 'set' ? rest : operands;
  if (/^(?:edit|rename-section|remove-section|get-color|get-colorbool)$/.test(verb))
    return `config ${verb} is not read here`;
  if (key === undefined || value === undefined) return undefined;
  return doubtOfSetting(key, key.text);
}

function doubtOfSetting({ unknown = false }: CarrierWord, key: string): string | undefined {
  return !unknown && harmlessKeys.test(key) ? undefined : `the setting ${key} may run another program`;
}

const globalValued = /^(?:-C|--work-tree|--namespace|--git-dir|-c)$/;
const globalFlags =
  /^(?:-[pP]|--(?:paginate|no-pager|no-replace-objects|no-optional-locks|literal-pathspecs|icase-pathspecs|bare|version|help|no-lazy-fetch|no-advice))$/;

/** Why a command of git may run another program. */
export function doubtOfGit(words: readonly CarrierWord[]): string | undefined {
  let at = 0;
  for (; /^-./s.test(words[at]?.text ?? ''); at++) {
    const word = words[at];
    if (word === undefined) break;
    const [, name = word.text, attached] = /^(--[\w-]+)=(.*)$/s.exec(word.text) ?? [];
    if (word.unknown === true && attached === undefined) return `the option ${word.text} is known only when it runs`;
    if (globalFlags.test(name)) continue;
    if (!globalValued.test(name)) return `the option ${name} may run another program`;
    const value = attached === undefined ? words[++at] : { ...word, text: attached };
    if (name === '-c') {
      const doubt = doubtOfSetting(value ?? word, (value?.text ?? '').replace(/=.*$/s, '='));
      if (doubt !== undefined && doubtOfSetting(value ?? word, (value?.text ?? '').replace(/=.*$/s, '')) !== undefined)
        return doubt;
    }
    if (name === '--git-dir' && !/(?:^|\/)\.git\/?$/.test(value?.text ?? ''))
      return 'the folder of its settings is named';
  }
  const [verb, ...rest] = words.slice(at);
  if (verb === undefined) return undefined;
  if (verb.unknown === true || verb.isGlob === true) return `${verb.text} is known only when it runs`;
  if (plain.has(verb.text)) return undefined;
  const form = Object.hasOwn(forms, verb.text) ? forms[verb.text] : undefined;
  return form === undefined ? `git ${verb.text} may run another program` : doubtOfForm(rest, form);
}
