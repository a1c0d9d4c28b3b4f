// Runs before the first paint. The choice is "light", "dark" or, where there is none, the system's.
(() => {
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => {
    let choice = null;
    try {
      choice = localStorage.getItem('reeve-theme');
    } catch {
      // Storage may be forbidden; the system's choice holds then.
    }
    const isChosen = choice === 'light' || choice === 'dark';
    root.dataset.themeChoice = isChosen ? choice : 'system';
    root.dataset.theme = isChosen ? choice : system.matches ? 'dark' : 'light';
    root.dispatchEvent(new Event('themechange'));
  };
  system.addEventListener('change', apply);
  addEventListener('storage', apply);
  addEventListener('reeve-theme', apply);
  apply();
})();
