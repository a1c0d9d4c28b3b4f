import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin, UserConfig } from 'vite';

const packsModule = 'virtual:policy-packs';

/** The policies to begin with, from the files that the command line ships. */
function policyPacks(): Plugin {
  const cli = join(import.meta.dirname, '../cli');
  const sourcesIn = (folder: string) =>
    readdirSync(join(cli, folder))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => readFileSync(join(cli, folder, file), 'utf8'));
  return {
    name: 'policy-packs',
    resolveId: (id) => (id === packsModule ? `\0${packsModule}` : undefined),
    load: (id) => {
      if (id !== `\0${packsModule}`) return undefined;
      const packs = readdirSync(join(cli, 'packs')).map((pack) => [pack, sourcesIn(`packs/${pack}`)]);
      const all = Object.fromEntries([['starter', sourcesIn('starter')], ...packs]);
      return `export const policyPacks = ${JSON.stringify(all)};`;
    },
  };
}

const config: UserConfig = {
  root: import.meta.dirname,
  // Texts that hide something are shown as what they are: src/jsx.
  plugins: [react({ jsxImportSource: '@reeve/dashboard/jsx' }), tailwindcss(), policyPacks()],
  build: {
    // The Content-Security-Policy allows files only: nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    emptyOutDir: true,
    manifest: true,
    chunkSizeWarningLimit: 1024,
  },
};

export default config;
