import type { Route } from '../route.ts';

/** Copies of everything that a gateway keeps. */
export const backupRoutes = {
  createBackup: {
    method: 'POST',
    path: '/api/v1/backup',
    tag: 'Service',
    summary:
      'Makes a backup of the embedded store: one consistent moment, with the policy files of the data folder, as a compressed archive that "reeve backup restore" takes. It holds secrets: hashes of keys and passwords, and the keys that sign tokens. One at a time. It is complete before the answer begins, which may take minutes for a large store.',
    access: 'admin',
    tenancy: 'unbound',
    success: { status: 200, description: 'The backup, streamed.', types: ['application/gzip'] },
    problems: ['backup_running', 'backup_unsupported'],
  },
} as const satisfies Record<string, Route>;
