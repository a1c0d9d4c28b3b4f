declare module '*.css';

declare module 'virtual:policy-packs' {
  /** The documents of each pack, as the command line ships them. */
  export const policyPacks: Readonly<Record<'starter' | 'coding-agents' | 'mcp' | 'models', readonly string[]>>;
}

declare module 'virtual:route-table' {
  import type { RouteName } from '@reeve/contract/http';

  /** Method, path with parameters in braces, and whether the route is public. */
  export const routeTable: Readonly<Record<RouteName, readonly [method: string, path: string, isPublic: boolean]>>;
}
