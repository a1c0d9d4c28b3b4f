import type { Form, ReadForm } from './form.ts';

const harmlessSetting =
  /^(?:stricthostkeychecking|connecttimeout|connectionattempts|batchmode|userknownhostsfile|globalknownhostsfile|loglevel|serveralive\w+|tcpkeepalive|identitiesonly|port|user|hostname|compression|passwordauthentication|pubkeyauthentication|preferredauthentications|requesttty|exitonforwardfailure|checkhostip|addressfamily|visualhostkey)[=\s]/i;

function doubtOfSettings({ options }: ReadForm): string | undefined {
  const bad = options.get('o')?.find(({ text, unknown }) => unknown === true || !harmlessSetting.test(text));
  return bad === undefined ? undefined : `the setting ${bad.text} may run another program`;
}

/** Statements only, given on the line. */
function doubtOfStatements(texts: ReadForm['operands'], running: RegExp): string | undefined {
  const isClear = texts.length > 0 && !texts.some(({ text, unknown }) => unknown === true || running.test(text));
  return isClear ? undefined : 'it may run a command of a shell';
}

/** Programs of this name differ in which options have a value, and a value may be `-e`. These are the same for all of them. */
const netcat: Form = { flags: '46CDdFhklNnrtUuvZz', valued: 'ipqsw', long: 'listen verbose udp' };

/** Addresses of socat that connect, listen or pass on. It reads quotes and backslashes in names, so these are plain. */
const socatAddress =
  /^(?:-|\d+|(?:stdio|stdin|stdout|stderr|fd|(?:tcp|udp|sctp|unix|ssl|openssl|abstract|socks|proxy|vsock|ip)[\w-]*)(?:[:,][^'"\\!]*)?)$/i;

/** Programs that connect, and clients of databases. */
export const networkTools: Readonly<Record<string, Form>> = {
  ssh: { ends: true, flags: '46AaCfGgKkMNnqsTtVvXxYy', valued: 'BbcDeiJLlmopRWw', doubtIn: doubtOfSettings },
  scp: { flags: '346ABCOpqRrTsv', valued: 'ciJlPXo', doubtIn: doubtOfSettings },
  nc: netcat,
  ncat: netcat,
  netcat: netcat,
  socat: {
    flags: 'dDhvxsuU46',
    valued: 'btTlL',
    doubtIn: ({ operands }) =>
      operands.every(({ text, unknown }) => unknown !== true && socatAddress.test(text))
        ? undefined
        : 'it may run another program or open a file',
  },
  ip: {
    flags: '460jpsdohrtc',
    singleDash: true,
    long: 'json pretty stats statistics details brief br color=? oneline family= resolve',
    doubtIn: ({ operands }) =>
      operands.some(({ text }) => /^(?:e|ex|exe|exec)$/.test(text)) ? 'it may run another program' : undefined,
  },
  rsync: {
    flags: 'avrlptgoDzhnuqPcxHAXSWimbCdRk',
    valued: 'Bf',
    long:
      'archive verbose recursive delete delete-after delete-excluded exclude= include= exclude-from= include-from= ' +
      'filter= dry-run progress stats compress checksum update times perms links partial human-readable existing ' +
      'ignore-existing size-only bwlimit= timeout= max-size= min-size= backup backup-dir= info= itemize-changes relative ' +
      'no-perms no-owner no-group chmod= files-from= prune-empty-dirs mkpath',
  },
  tcpdump: { flags: 'AdDefHIJKlLnNOpqRStuUvxX#', valued: 'BcCEFGiMrsTwWyQ' },
  wget: {
    flags: 'qvcNbSrkpmHLxd46',
    valued: 'OPoatTwQlARDUB',
    long:
      'quiet verbose no-verbose output-document= directory-prefix= continue timestamping tries= timeout= header= ' +
      'user-agent= post-data= method= body-data= no-check-certificate recursive level= no-parent mirror spider ' +
      'show-progress server-response max-redirect= content-disposition',
  },
  sqlite3: {
    singleDash: true,
    ends: true,
    long: 'json csv header noheader line list column html markdown table box readonly bail batch separator= nullvalue= safe',
    doubtIn: ({ operands, options }) =>
      options.has('version') || options.has('safe')
        ? undefined
        : doubtOfStatements(operands.slice(1), /(?:^|\n)[^\S\n]*\.|edit\s*\(|load_extension/i),
  },
  psql: {
    flags: 'aAbeEHlnqsStwWxXz01',
    valued: 'cdhpUvFPRT',
    long: 'command= dbname= host= port= username= no-psqlrc tuples-only no-align csv html expanded quiet list no-password set= variable= field-separator= record-separator= pset= single-transaction echo-all',
    doubtIn: ({ options }) =>
      ['l', 'list', 'version'].some((name) => options.has(name))
        ? undefined
        : doubtOfStatements([...(options.get('c') ?? []), ...(options.get('command') ?? [])], /\\|\bprogram\b/i),
  },
};
