declare module '*.css';

declare module 'virtual:route-table' {
  import type { RouteName } from '@reeve/contract/http';

  /** Method, path with parameters in braces, and whether the route is public. */
  export const routeTable: Readonly<Record<RouteName, readonly [method: string, path: string, isPublic: boolean]>>;
}
