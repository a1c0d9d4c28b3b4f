// The same as jsx-runtime.ts, for `npm run dev`.
import * as react from 'react/jsx-dev-runtime';
import { visibleProps } from './visible-props.ts';

export { Fragment } from 'react/jsx-dev-runtime';
export type { JSX } from 'react/jsx-dev-runtime';

export const jsxDEV: typeof react.jsxDEV = (type, props, ...rest) =>
  react.jsxDEV(type, visibleProps(props as object), ...rest);
