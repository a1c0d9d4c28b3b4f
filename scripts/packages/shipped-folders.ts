/** The folders that the command reads, by the names that they have wherever it is built. */
export const shippedFolders: Readonly<Record<string, string>> = {
  dashboard: 'packages/dashboard/dist',
  packs: 'packages/cli/packs',
  starter: 'packages/cli/starter',
};
