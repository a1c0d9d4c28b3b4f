import { useSyncExternalStore } from 'react';

export type ThemeChoice = 'light' | 'dark' | 'system';

const root = document.documentElement;

/** `theme.js` reads the choice before the first paint and applies it. */
export function chooseTheme(choice: ThemeChoice): void {
  try {
    if (choice === 'system') localStorage.removeItem('reeve-theme');
    else localStorage.setItem('reeve-theme', choice);
  } catch {
    // Storage may be forbidden. The system's choice then applies.
  }
  dispatchEvent(new Event('reeve-theme'));
}

function subscribe(listener: () => void): () => void {
  root.addEventListener('themechange', listener);
  return () => root.removeEventListener('themechange', listener);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, () => (root.dataset['themeChoice'] ?? 'system') as ThemeChoice);
}

/** The current theme, for components that draw their own colours. */
export function useTheme(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => (root.dataset['theme'] === 'dark' ? 'dark' : 'light'));
}
