import type { OxlintOverride } from 'oxlint';
import { defineConfig } from 'oxlint';
import type { Refusal } from './scripts/lint/core-floors.ts';
import { coreRestrictions } from './scripts/lint/core-floors.ts';

interface TypesOnly {
  readonly name: string;
  readonly allowTypeImports: true;
  readonly message: string;
}

/** Refuses imports in some files. A later entry for a file replaces an earlier one. */
function restrict(files: string | string[], patterns: Refusal[], paths: TypesOnly[] = []): OxlintOverride {
  return { files: [files].flat(), rules: { 'no-restricted-imports': ['error', { paths, patterns }] } };
}

/** Refuses imports from a folder of the gateway. */
function from(folder: 'adapters' | 'transports' | 'wiring', message: string): Refusal {
  return { regex: `^(\\.{1,2}/)+${folder}/`, message };
}

const fromWiring = from(
  'wiring',
  'Only serve.ts starts the wiring: take what you need as a parameter and let the wiring pass it in.',
);
const opensNothing = 'serve.ts runs the process and opens nothing itself: open it in packages/gateway/src/wiring.';

/** Which package, and which folder of a package, imports what. */
const restrictions = [
  ...coreRestrictions().map(({ files, patterns }) => restrict(files, patterns)),
  restrict('packages/contract/src/**', [
    {
      group: ['node:*', '@reeve/*'],
      message: 'The contract is the wire and nothing else, and runs in browsers: no Node, no other package.',
    },
  ]),
  restrict('packages/grpc-server/src/**', [
    {
      group: ['@reeve/*'],
      message: 'The engine depends on no other package, so that others can use it: pass in what it needs.',
    },
  ]),
  restrict(
    ['packages/sdk/src/**', 'packages/cli/src/**', 'packages/proxy/src/**'],
    [
      {
        group: ['@reeve/core', '@reeve/core/*', '@reeve/gateway', '@reeve/gateway/*'],
        message: 'Clients speak the contract only. What they need of the gateway belongs on the wire.',
      },
    ],
  ),
  restrict(
    'packages/dashboard/src/**',
    [
      {
        group: ['node:*', 'zod'],
        message: 'The dashboard runs in browsers and loads little: no Node, no schemas.',
      },
      {
        group: [
          '@reeve/core',
          '@reeve/core/*',
          '@reeve/gateway',
          '@reeve/gateway/*',
          '@reeve/cli',
          '@reeve/proxy',
          '@reeve/sdk',
        ],
        message: 'The dashboard speaks the contract only. What it needs of the gateway belongs on the wire.',
      },
    ],
    [
      {
        name: '@reeve/contract/http',
        allowTypeImports: true,
        message: 'Types only: the schemas would triple the script. Routes are called by name, by callRoute.',
      },
      {
        name: '@reeve/contract/events',
        allowTypeImports: true,
        message: 'Types only: the schemas would triple the script.',
      },
    ],
  ),
  restrict('packages/gateway/src/**', [
    from(
      'adapters',
      'Only the wiring names adapters: declare a port where it is used, take it as a parameter and let ' +
        'packages/gateway/src/wiring pass the adapter in.',
    ),
    from(
      'transports',
      'Only the wiring names transports: take a function as a parameter and let packages/gateway/src/wiring pass the ' +
        "transport's in, or move what belongs to the wire into packages/gateway/src/transports.",
    ),
    fromWiring,
  ]),
  restrict('packages/gateway/src/serve.ts', [from('adapters', opensNothing), from('transports', opensNothing)]),
  restrict('packages/gateway/src/offline/**', [
    from(
      'transports',
      'Offline commands serve nobody: what they share with a transport belongs into the core, or beside them.',
    ),
    fromWiring,
  ]),
  restrict('packages/gateway/src/transports/**', [
    from(
      'adapters',
      'Transports and adapters do not know each other: take a port of the core and let packages/gateway/src/wiring join ' +
        'them.',
    ),
    fromWiring,
  ]),
  restrict('packages/gateway/src/adapters/**', [
    from(
      'transports',
      'Adapters and transports do not know each other: take a function as a parameter and let ' +
        'packages/gateway/src/wiring join them.',
    ),
    fromWiring,
  ]),
];

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true },
  ignorePatterns: ['packages/contract/src/gen/**', 'node_modules/**'],
  rules: {
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-unnecessary-condition': 'off',
    'typescript/unbound-method': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
    'import/no-default-export': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-unassigned-import': 'off',
    'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
    'promise/no-callback-in-promise': 'off',
    'promise/always-return': 'off',
    'no-await-in-loop': 'off',
    'no-underscore-dangle': 'off',
    'no-shadow': 'off',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
    'unicorn/no-array-sort': 'off',
    'unicorn/no-useless-spread': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'node/no-process-env': 'error',
  },
  overrides: [
    ...restrictions,
    {
      files: [
        'packages/gateway/src/wiring/**',
        'packages/cli/src/commands/serve.ts',
        'packages/cli/src/commands/demo.ts',
        'packages/cli/src/accounts/offline.ts',
        'packages/cli/src/backup/offline.ts',
        'packages/cli/src/doctor/offline.ts',
        'packages/cli/src/policy/offline.ts',
      ],
      rules: { 'no-restricted-imports': 'off' },
    },
    {
      files: ['packages/*/src/**'],
      excludeFiles: ['**/*.test.ts', '**/testkit/**', 'packages/cli/src/tenant-probe/fake/**'],
      rules: { 'max-lines-per-function': ['error', { max: 80, skipBlankLines: false, skipComments: false }] },
    },
    {
      files: ['packages/dashboard/src/**'],
      plugins: ['typescript', 'import', 'unicorn', 'promise', 'react', 'jsx-a11y'],
      env: { browser: true, node: false },
      rules: {
        'react/react-in-jsx-scope': 'off',
        'react/incompatible-library': 'off',
        'jsx-a11y/prefer-tag-over-role': 'off',
        'react/rules-of-hooks': 'error',
        'react/exhaustive-deps': 'error',
        'react/jsx-no-target-blank': 'error',
        'react/no-danger': 'error',
        'unicorn/prefer-add-event-listener': 'error',
      },
    },
    {
      files: [
        'packages/gateway/src/serve.ts',
        'packages/cli/src/main.ts',
        'packages/sdk/src/usual-addresses.ts',
        'tests/**',
        'bench/**',
        'scripts/**',
        'examples/**',
        'deploy/**',
      ],
      rules: { 'node/no-process-env': 'off' },
    },
    {
      files: ['**/*.test.ts', '**/*.test.tsx', 'tests/**', 'packages/core/src/testkit/**'],
      rules: { 'max-lines': 'off', 'no-restricted-imports': 'off', 'no-loss-of-precision': 'off' },
    },
    { files: ['packages/core/src/budget/price-table.ts'], rules: { 'max-lines': 'off' } },
    {
      files: [
        'oxlint.config.ts',
        'vitest.config.ts',
        'tests/harness/closing-line.ts',
        'packages/dashboard/vite.config.ts',
      ],
      rules: { 'import/no-default-export': 'off' },
    },
  ],
});
