import type { CommandTable } from './command-line/command.ts';

/** Copies of everything that a gateway keeps. */
export const backupCommands: CommandTable = {
  backup: {
    summary: 'Make backups of a gateway, prove and restore them.',
    commands: {
      create: {
        summary: 'Write a backup of a gateway, running or stopped.',
        load: async () => (await import('./commands/backup-create.ts')).backupCreateCommand,
      },
      verify: {
        summary: 'Check that a backup is whole and its log unbroken.',
        load: async () => (await import('./commands/backup-verify.ts')).backupVerifyCommand,
      },
      restore: {
        summary: 'Make a data folder from a backup.',
        load: async () => (await import('./commands/backup-restore.ts')).backupRestoreCommand,
      },
    },
  },
};
