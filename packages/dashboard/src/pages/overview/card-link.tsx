import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

/** A link in the head of a card, to the page with the rest. */
export const CardLink = createLink(({ children, ...rest }: ComponentProps<'a'>) => (
  <a {...rest} className="font-medium text-accent underline-offset-2 hover:underline">
    {children}
  </a>
));
