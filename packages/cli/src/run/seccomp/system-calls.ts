/** Numbers of system calls: those of x64, and those of arm64, which lacks the oldest. */
export const architectures = {
  x64: { audit: 0xc000_003e, column: 0 },
  arm64: { audit: 0xc000_00b7, column: 1 },
} as const;

export type Architecture = keyof typeof architectures;

/** The first number that no kernel had when this was written. What comes later is judged before it is let through. */
export const firstUnknownCall = 470;

type Numbers = readonly [x64: number, arm64?: number];

/** Refused whatever the arguments. What programs probe for gets ENOSYS, and they go another way. */
export const refusedCalls = {
  // Mounting, and other views of the file system.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  fanotify_init: [300, 262],
  // Other processes: their memory, descriptors and namespaces.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  setns: [308, 268],
  // The kernel itself.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174],
  get_kernel_syms: [177],
  query_module: [178],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  syslog: [103, 116],
  acct: [163, 89],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  uselib: [134],
  sysctl: [156],
  iopl: [172],
  ioperm: [173],
  vhangup: [153, 58],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  // Keyrings.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
} as const satisfies Readonly<Record<string, Numbers>>;

/** Answered as if the kernel did not have them: programs then use the older calls, which the filter can judge. */
export const absentCalls = {
  clone3: [435, 435],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
} as const satisfies Readonly<Record<string, Numbers>>;

/** Judged by their arguments. */
export const judgedCalls = {
  clone: [56, 220],
  unshare: [272, 97],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  kill: [62, 129],
  pidfd_send_signal: [424, 424],
  timer_create: [222, 107],
  fcntl: [72, 25],
  prctl: [157, 167],
} as const satisfies Readonly<Record<string, Numbers>>;

export function numberOf(numbers: Numbers, architecture: Architecture): number | undefined {
  return numbers[architectures[architecture].column];
}
