import type { Word } from './word.ts';

/** Variables that change which program runs, or what it runs besides. */
const deciding =
  /^(?:PATH|PWD|OLDPWD|HOME|VIRTUAL_ENV|LANG|LC_ALL|LC_CTYPE|CDPATH|SHELL|ZDOTDIR|NULLCMD|READNULLCMD|path|fpath|cdpath|aliases|galiases|saliases|functions|commands|ENV|BASH_ENV|BASH_CMDS|BASH_ALIASES|BASH_LOADABLES_PATH|BASH_FUNC_.*|EXECIGNORE|GLOBIGNORE|INPUTRC|GIT_TRACE.*|GIT_CONFIG.*|GIT_EXEC_PATH|GIT_DIR|GIT_COMMON_DIR|GIT_TEMPLATE_DIR|GIT_ATTR_.*|XDG_CONFIG_.*|XDG_DATA_.*|TAR_OPTIONS|MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|JAVA_HOME|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|CLASSPATH|NODE_PATH|PYTHONHOME|PYTHONWARNINGS|PYTHONBREAKPOINT|PYTHONUSERBASE|PYTEST_ADDOPTS|PYTEST_PLUGINS|LUA_.*|RIPGREP_CONFIG_PATH|FCEDIT|[Nn][Pp][Mm]_[Cc][Oo][Nn][Ff][Ii][Gg]_.*|(?:pnpm_config|PNPM|YARN|BUN|PIP|UV|POETRY|CARGO|GO|RUSTUP|BUNDLE|GEM|COMPOSER|ANSIBLE|DENO)_.*|MAKEFILES|CC|CXX|CPP|LD|AR|AS|GCC_EXEC_PREFIX|COMPILER_PATH|GOFLAGS|GOTOOLCHAIN|RUSTC|RUSTC_WRAPPER|RUSTFLAGS|RUSTC_WORKSPACE_WRAPPER|RUSTDOC.*|RSYNC_.*|LESS|LESSKEY.*|MANOPT|MANPATH|MORE|SQLITE_HISTORY|AWKPATH|AWKLIBPATH|MAVEN_.*|GRADLE_.*|JDK_JAVA_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|GCONV_PATH|LOCPATH|GLIBC_TUNABLES|OPENSSL_CONF|OPENSSL_MODULES|OPENSSL_ENGINES|PS[0-4]|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_XTRACEFD|POSIXLY_CORRECT|LD_.*|DYLD_.*|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5.*|PERLLIB|RUBYOPT|RUBYLIB|GIT_SSH.*|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|(?:.*_)?ASKPASS|(?:.*_)?EDITOR|VISUAL|VIMINIT|EXINIT|MYVIMRC|(?:.*_)?(?:MAN)?PAGER|LESSOPEN|LESSCLOSE|BROWSER|KUBECONFIG|DOCKER_HOST|DOCKER_CONFIG|DOCKER_CONTEXT|AWS_CONFIG_FILE|CURL_HOME|WGETRC|GNUPGHOME|SVN_SSH|CVS_RSH|DOTNET_STARTUP_HOOKS|ERL_.*|R_PROFILE.*|R_ENVIRON.*|JULIA_.*|TERMINFO.*|ZIPOPT|UNZIP)$/;

/** Variables that programs read and none runs, whatever is in them. */
const harmless =
  /^(?:CI|FOO|BAR|BAZ|DEBUG|NODE_DEBUG|VERBOSE|PORT|HOST|TERM|COLORTERM|COLUMNS|LINES|LANGUAGE|LC_(?!ALL|CTYPE)[A-Z]+|TZ|IFS|SKIP|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|NO_PROXY|no_proxy|NODE_ENV|RUST_LOG|RUST_BACKTRACE|TF_LOG|HUSKY|LOG_LEVEL|LOGLEVEL|ENVIRONMENT|STAGE|DEBIAN_FRONTEND|SOURCE_DATE_EPOCH|DISPLAY|PGPASSWORD|PGUSER|PGDATABASE|PGPORT|DATABASE_URL|AWS_PROFILE|AWS_REGION|AWS_DEFAULT_REGION|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GO(?:OS|ARCH|ARM|AMD64|111MODULE|MAXPROCS|TRACEBACK)|CGO_ENABLED|CARGO_(?:TERM_\w+|INCREMENTAL|NET_OFFLINE|NET_RETRY)|PIP_(?:NO_CACHE_DIR|DISABLE_PIP_VERSION_CHECK|NO_INPUT|ROOT_USER_ACTION)|UV_(?:LINK_MODE|NO_PROGRESS|OFFLINE)|[Nn][Pp][Mm]_[Cc][Oo][Nn][Ff][Ii][Gg]_(?:yes|color|fund|audit|progress|loglevel|update_notifier)|PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|HASHSEED|FAULTHANDLER|DEVMODE)|(?:VITE|NEXT_PUBLIC|REACT_APP|EXPO_PUBLIC|NUXT_PUBLIC)_\w+)$/;

/** The same by the way in which projects name their own. What is downloaded may run. */
const ofProjects =
  /^(?!GIT_|.*(?:DOWNLOAD|MIRROR|CDN|INSTALL|REGISTRY|INDEX|PROXY|REPO))[A-Z][A-Z0-9_]*_(?:ENV|URL|URI|DSN|PORT|HOST|DEBUG|LOG_LEVEL|LOGLEVEL|LEVEL|TIMEOUT|VERBOSE|ENABLED|DISABLED|COLOR|SEED|RETRIES|WORKERS|THREADS|JOBS|REGION|MODE|USER|PASSWORD|SECRET|TOKEN|API_KEY|DB|DATABASE|SCHEMA|SETTINGS_MODULE|FEATURES?|FORMAT|TYPE|STRATEGY|LIMIT|SIZE|COUNT|INTERVAL|DELAY|LOCALE|THEME|BRANCH|EMAIL|DOMAIN|TITLE|MESSAGE|STATUS|DATE|FILTER|GREP|MATCH)$/;

/** Numbers and words of the kind of yes and no. No program has such a name but some that do nothing. */
const plainValue =
  /^(?:[-+]?\d*(?:\.\d+)?|[Tt]rue|TRUE|[Ff]alse|FALSE|yes|no|on|off|always|never|development|production|staging|test|debug|trace|warn|error|verbose)$/;

/** Values of deciding variables that make no other program run than one that does nothing, or that is where all are. */
const values: readonly (readonly [RegExp, RegExp])[] = [
  [/PAGER$/, /^(?:cat)?$/],
  [/(?:EDITOR|VISUAL)$/, /^(?:true|:|cat)$/],
  [/^GIT_TRACE/, /^(?:[0-2]|true|false)$/],
  [/^(?:CC|CXX)$/, /^(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)$/],
  [/^RUSTFLAGS$/, /^(?:-[ADFW] ?[a-z_:-]+(?: |$))*$/],
  // In other encodings a backslash may be part of a character.
  [/^(?:LANG|LC_ALL|LC_CTYPE)$/, /^(?:C|POSIX|\w+\.(?:UTF-?8|utf-?8))?$/],
  [/^LESS$/, /^-?[FRXSMiKQ]*$/],
  [/^PYTHONWARNINGS$/, /^(?:ignore|default|error|always|once|module)$/],
  [
    /^NODE_OPTIONS$/,
    /^(?:--(?:max-old-space-size=\d+|max-semi-space-size=\d+|stack-trace-limit=\d+|no-warnings|trace-warnings|trace-deprecation|no-deprecation|enable-source-maps|experimental-vm-modules|experimental-strip-types|openssl-legacy-provider|unhandled-rejections=\w+)(?: |$))*$/,
  ],
];

/** Folders that take no files of agents. */
const systemFolders = /^\/(?:usr|bin|sbin|opt|snap)(?:\/[\w@+-][\w.@+-]*)*\/?$/;

/** Why a value of a variable may change what runs, once programs get it. */
export function doubtOfExport(name: string, value: Word | undefined, command: readonly Word[]): string | undefined {
  if (harmless.test(name)) return undefined;
  if (deciding.test(name)) return doubtOfAssignment(name, value, command);
  if (!/^[A-Za-z_]\w*$/.test(name)) return `${name} is no name of a variable`;
  if (ofProjects.test(name) || (value !== undefined && !value.unknown && plainValue.test(value.text))) return undefined;
  return `${name} may change what runs`;
}

/** The same for a variable of the shell alone, unless programs get it already. */
export function doubtOfAssignment(name: string, value: Word | undefined, command: readonly Word[]): string | undefined {
  if (!deciding.test(name) || harmless.test(name)) return undefined;
  if (value !== undefined && isHarmlessValue(name, value, command)) return undefined;
  return `${name} changes what runs`;
}

function isHarmlessValue(name: string, { text, unknown }: Word, command: readonly Word[]): boolean {
  if (name === 'PATH') {
    const parts = text.split(':');
    const folders = parts.filter((part) => !/^\$(?:PATH|\{PATH\})$/.test(part));
    // Between quotes `$PATH` is a folder of this name.
    return parts.length - folders.length === (unknown ? 1 : 0) && folders.every((part) => systemFolders.test(part));
  }
  if (name === 'PYTHONPATH') return loadsFromHere(command) && text.split(':').every(isHere);
  return !unknown && values.some(([names, known]) => names.test(name) && known.test(text));
}

/** A folder in this one, or what the variable held before. */
function isHere(part: string): boolean {
  if (/^\$(?:PYTHONPATH|\{PYTHONPATH(?::-)?\})$/.test(part)) return true;
  const path = part.replace(/^\$(?:PWD|\{PWD\})(?=\/|$)/, '.');
  return path !== '' && /^[\w.][\w./@+-]*$/.test(path) && !path.split('/').includes('..');
}

/** Whether a program loads code of the folder that it runs in, even without being told. */
function loadsFromHere([program, ...args]: readonly Word[]): boolean {
  const name = program?.text ?? '';
  if (/^(?:pytest|py\.test)$/.test(name)) return true;
  if (!/^python[\d.]*$/.test(name)) return false;
  const first = args.find(({ text }) => !/^-[bBOquvX\d]+$/.test(text));
  return (
    first === undefined ||
    (!first.unknown && /^(?:-[cm]?$|[\w.][\w./-]*$)/.test(first.text) && !first.text.includes('..'))
  );
}
