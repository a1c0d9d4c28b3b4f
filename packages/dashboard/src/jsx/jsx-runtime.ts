// What JSX compiles to in this package: React's own, and every text is shown by visible-props.ts.
import * as react from 'react/jsx-runtime';
import { visibleProps } from './visible-props.ts';

export { Fragment } from 'react/jsx-runtime';
export type { JSX } from 'react/jsx-runtime';

export const jsx: typeof react.jsx = (type, props, key) => react.jsx(type, visibleProps(props as object), key);

export const jsxs: typeof react.jsxs = (type, props, key) => react.jsxs(type, visibleProps(props as object), key);
