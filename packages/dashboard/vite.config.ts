import { routes } from '@reeve/contract/http';
import type { Route } from '@reeve/contract/http';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin, UserConfig } from 'vite';

const module = 'virtual:route-table';

/** Method, path and whether a route is public, from the contract's own table: no schema reaches the browser. */
function routeTable(): Plugin {
  const rows = Object.entries<Route>(routes).map(([name, { method, path, access }]) => [
    name,
    [method, path, access === 'public'],
  ]);
  return {
    name: 'route-table',
    resolveId: (id) => (id === module ? `\0${module}` : undefined),
    load: (id) =>
      id === `\0${module}` ? `export const routeTable = ${JSON.stringify(Object.fromEntries(rows))};` : undefined,
  };
}

const config: UserConfig = {
  root: import.meta.dirname,
  // Texts that hide something are shown as what they are: src/jsx.
  plugins: [react({ jsxImportSource: '@reeve/dashboard/jsx' }), tailwindcss(), routeTable()],
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
