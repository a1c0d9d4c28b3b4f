/** Shells whose language is read. */
export const shellNames = ['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'rbash', 'yash'] as const;

/** Shells whose language is not. */
export const otherShellNames = 'fish csh tcsh nu elvish pwsh powershell powershell.exe cmd cmd.exe'.split(' ');

/** Programs and builtins that run the command which their operands name. `reeve hook` has a rule for each. */
export const wrapperNames = [
  ...([
    'sudo',
    'doas',
    'env',
    'nohup',
    'builtin',
    'noglob',
    'nocorrect',
    '-',
    'busybox',
    'toybox',
    'fakeroot',
  ] as const),
  ...(['unbuffer', 'torsocks', 'proxychains', 'proxychains4', 'eatmydata', 'catchsegv', 'dbus-run-session'] as const),
  ...([
    'tini',
    'dumb-init',
    'ssh-agent',
    'dbus-launch',
    'xvfb-run',
    'aa-exec',
    'sandbox-exec',
    'cross-env',
    'cross-env-shell',
  ] as const),
  ...(['valgrind', 'perf', 'entr', 'direnv', 'firejail', 'bwrap', 'proot', 'chpst', 'softlimit', 'choom'] as const),
  ...(['uclampset', 'rlwrap', 'sshpass', 'arch', 'xcrun', 'dtruss', 'setuidgid', 'faketime', 'caffeinate'] as const),
  ...(['ifne', 'chronic', 'systemd-inhibit', 'nocache', 'tsocks', 'runcon', 'cgexec', 'envuidgid'] as const),
  ...(['setlock', 'i386', 'x86_64'] as const),
  ...(['systemd-run', 'unshare', 'nsenter', 'setpriv', 'prlimit', 'numactl', 'pkexec', 'command', 'exec'] as const),
  ...(['timeout', 'nice', 'ionice', 'setsid', 'stdbuf', 'time', 'chroot', 'gosu', 'su-exec', 'setarch'] as const),
  ...([
    'linux32',
    'linux64',
    'repeat',
    'taskset',
    'chrt',
    'strace',
    'ltrace',
    'watch',
    'flock',
    'script',
    'xargs',
  ] as const),
] as const;

export type WrapperName = (typeof wrapperNames)[number];

/** Programs and builtins that run what is not on their line, or in a language of their own. */
export const opaqueNames = (
  'at batch enable bind fc compgen complete tmux screen expect gdb lldb nix-shell nodemon concurrently hyperfine ' +
  'start-stop-daemon daemonize run-parts capsh coreutils wsl sem newgrp vi vim view vimdiff rvim rview rvi nvim ex ed red ' +
  'emacs nano pico joe jed ftp lftp mysql mariadb mongo irb pry ghci ghc octave R gnuplot dc ' +
  'ansible ansible-playbook ansible-test vagrant puppet slsh tclsh8 wish pdb ipython jrunscript jjs scala groovy ' +
  'msfconsole cpan easy_install scrot dvips tex latex pdftex pdflatex lualatex ' +
  'xelatex luatex byebug check_by_ssh cobc crash distcc dmsetup genie gimp ginsh hping3 logrotate logsave ' +
  'mutt nmap pexec posh rc rlogin rsh scanmem sash ssh-keygen ssh-copy-id ' +
  'softlimit-not tdbtool tmate torify uftpd varnishncsa vipw vigr visudo volatility watchexec w3m wg-quick xdotool ' +
  'zathura zsoelim crontab telnet fzf sk zpty sched setopt unsetopt zmodload autoload vared pee vipe mispipe xterm urxvt ' +
  'konsole gnome-terminal alacritty kitty rr heaptrack dtach abduco zellij iex erl sbcl clisp utop jshell sqlplus duckdb ' +
  'mongosh bpython ptpython ipython3 evcxr dotenv dotenvx env-cmd foreman honcho aws-vault chamber doppler envdir sftp'
).split(' ');

/** The rest that names or carries a command. */
export const otherCarrierNames = '. eval source trap alias emulate coproc find fd fdfind parallel su runuser sg'.split(
  ' ',
);
