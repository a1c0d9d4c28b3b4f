/**
 * The completion of each shell calls the command itself: `reeve complete -- WORDS`, which is neither in the table nor
 * in the help. It prints one candidate per line, followed by a tab and its summary. The single line `:files` asks for
 * files instead.
 */

export const completionShells = ['bash', 'zsh', 'fish'] as const;
export type CompletionShell = (typeof completionShells)[number];

export function completionScript(shell: CompletionShell): string {
  return scripts[shell];
}

const bash = `# Completion of reeve for bash. Put into ~/.bashrc: eval "$(reeve completion bash)"
_reeve() {
  local line current words cword
  # The whole words, although bash takes ":" and "=" for ends of words: ids of operations have a colon in them.
  line="\${COMP_LINE:0:COMP_POINT}"
  read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  cword=$(( \${#words[@]} - 1 ))
  current="\${words[cword]}"
  # The command has chosen what fits; nothing of it is expanded by the shell.
  mapfile -t COMPREPLY < <(reeve complete -- "\${words[@]:1}" 2>/dev/null | cut -f 1)
  if [[ "\${COMPREPLY[0]}" == ":files" ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  # What stands before the last break is on the line already.
  local head="\${current%"\${current##*[:=]}"}"
  if [[ -n "$head" ]]; then
    local index
    for index in "\${!COMPREPLY[@]}"; do COMPREPLY[index]="\${COMPREPLY[index]#"$head"}"; done
  fi
}
complete -F _reeve reeve
`;

const zsh = `#compdef reeve
# Completion of reeve for zsh. Put into ~/.zshrc, behind compinit: eval "$(reeve completion zsh)"
_reeve() {
  local -a lines described
  local line word summary
  lines=("\${(@f)$(reeve complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${lines[1]}" == ":files" ]]; then
    _files
    return
  fi
  for line in "\${lines[@]}"; do
    [[ -z "$line" ]] && continue
    word="\${line%%$'\\t'*}"
    summary="\${line#*$'\\t'}"
    described+=("\${word//:/\\\\:}:\${summary}")
  done
  _describe 'reeve' described
}
compdef _reeve reeve
`;

const fish = `# Completion of reeve for fish. Put into ~/.config/fish/completions/reeve.fish: reeve completion fish > that file
function __reeve_complete
    set -l words (commandline -opc)[2..-1]
    set -l current (commandline -ct)
    set -l candidates (reeve complete -- $words "$current" 2>/dev/null)
    if test "$candidates[1]" = ":files"
        __fish_complete_path "$current"
        return
    end
    printf '%s\\n' $candidates
end
complete -c reeve -f -a '(__reeve_complete)'
`;

const scripts: Readonly<Record<CompletionShell, string>> = { bash, zsh, fish };
