import { classes } from './classes.ts';

/** Outlines on a grid of 20, in the colour of the surrounding text. */
const outlines = {
  overview: 'M3 10.5 10 4l7 6.5M5 9v7.5h10V9',
  ops: 'M3 10h3l2.2-5 3.6 10L14 10h3',
  approvals: 'M4.5 4.5h11v11h-11zM7 10l2.2 2.2L13.2 8',
  topology: 'M10 6.5v3.5M5.5 13.5V10h9v3.5M8 3.5h4v3H8zM3.5 13.5h4v3h-4zM12.5 13.5h4v3h-4z',
  audit: 'M5.5 3.5h7l3 3v10h-10zM8 9h5M8 12h5M8 6h2',
  budgets:
    'M10 3.5v13M13.5 6.2c-.8-.9-2-1.3-3.4-1.3-2 0-3.4 1-3.4 2.5 0 3.5 6.9 1.7 6.9 5.2 0 1.5-1.4 2.5-3.5 2.5-1.6 0-2.9-.5-3.7-1.5',
  policies: 'M10 3 4.5 5v4.5c0 3.5 2.3 6 5.5 7.5 3.2-1.5 5.5-4 5.5-7.5V5z',
  seal: 'M10 3 4.5 5v4.5c0 3.5 2.3 6 5.5 7.5 3.2-1.5 5.5-4 5.5-7.5V5zM7.3 9.8l2 2 3.4-3.8',
  identity: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 16.5c.6-3 3-4.5 6-4.5s5.4 1.5 6 4.5',
  people:
    'M7.5 9.5a2.8 2.8 0 1 0 0-5.5 2.8 2.8 0 0 0 0 5.5zM2.5 16c.5-2.7 2.3-4 5-4s4.5 1.3 5 4M13 9.2a2.4 2.4 0 0 0 0-4.7M14.5 12c1.7.5 2.7 1.8 3 4',
  runs: 'M5 5.5h.01M5 10h.01M5 14.5h.01M8.5 5.5h8M8.5 10h5.5M8.5 14.5h8',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  close: 'm5 5 10 10M15 5 5 15',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  copy: 'M7.5 7.5h9v9h-9zM12.5 7.5v-4h-9v9h4',
  sun: 'M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3z',
  system: 'M3 4h14v9.5H3zM7.5 16.5h5M10 13.5v3',
  down: 'm5.5 8 4.5 4.5L14.5 8',
  up: 'M5.5 12 10 7.5l4.5 4.5',
  right: 'm8 5.5 4.5 4.5L8 14.5',
  left: 'M12 5.5 7.5 10l4.5 4.5',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  menu: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6.5 4.5v11l9-5.5z',
  stop: 'M5.5 5.5h9v9h-9z',
  alert: 'M10 3.5 2.8 16.5h14.4zM10 8.5v3.5M10 14.2v.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.5V13.5M10 6.7v.01',
  refresh: 'M16 5.5v3.5h-3.5M16 9a6.3 6.3 0 1 0 .3 3',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  download: 'M10 3.5v9m-3.5-3.5L10 12.5 13.5 9M4 16.5h12',
  external: 'M11 4h5v5M16 4l-7 7M14 11.5v4.5H4V6h4.5',
  fit: 'M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4',
  filter: 'M3.5 5h13M6 10h8M8.5 15h3',
  key: 'M7 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10.5 10H17v2.5M14 10v2',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  sign_out: 'M8 3.5H4v13h4M8 10h8.5m-3.5-3.5L16.5 10 13 13.5',
  eye: 'M2.5 10C4.2 6.8 6.8 5 10 5s5.8 1.8 7.5 5c-1.7 3.2-4.3 5-7.5 5s-5.8-1.8-7.5-5zM10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z',
  mail: 'M3 5h14v10H3zM3.5 5.5 10 11l6.5-5.5',
} as const;

export type IconName = keyof typeof outlines;

interface IconProps {
  readonly name: IconName;
  readonly className?: string;
}

/** Decoration only. The text beside it, or the control around it, says the same. */
export function Icon({ name, className }: IconProps) {
  return (
    <svg
      viewBox="0 0 20 20"
      width="1.15em"
      height="1.15em"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2.2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      className={classes('shrink-0', className)}
    >
      <path d={outlines[name]} />
    </svg>
  );
}
