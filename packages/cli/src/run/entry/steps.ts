/** A program of a few system calls, as the kernel runs it, for any of the architectures. */
export type Step =
  /** Its answer is the result that the next steps are about. */
  | { readonly do: 'call'; readonly name: CallName; readonly args: readonly Argument[] }
  | { readonly do: 'keep'; readonly as: Kept }
  /** Writes the lower half of what was kept to an address. */
  | { readonly do: 'store'; readonly kept: Kept; readonly address: number }
  /** Writes four bytes to an address. */
  | { readonly do: 'set'; readonly address: number; readonly value: number }
  /** Goes on with these steps if the result is an error; or unless it is one. */
  | { readonly do: 'if error' | 'unless error'; readonly steps: readonly Step[] }
  /** Goes on with these steps if the result is less than a number, as every error is; or unless it is. */
  | { readonly do: 'if less' | 'unless less'; readonly than: number; readonly steps: readonly Step[] }
  /** Becomes the program that the first argument names, with the others as they are, and the environment. */
  | { readonly do: 'become' }
  /** Ends with the lowest byte of the result. */
  | { readonly do: 'end with result' };

export type Kept = 'ruleset' | 'opened';
export type Argument = number | { readonly kept: Kept };
export type CallName = keyof typeof callNumbers;

/** Numbers of system calls: those of x64, and those of arm64. */
export const callNumbers = {
  write: [1, 64],
  close: [3, 57],
  rt_sigaction: [13, 134],
  socket: [41, 198],
  sendmsg: [46, 211],
  bind: [49, 200],
  listen: [50, 201],
  execve: [59, 221],
  exit_group: [231, 94],
  unlinkat: [263, 35],
  openat2: [437, 437],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const satisfies Readonly<Record<string, readonly [x64: number, arm64: number]>>;
